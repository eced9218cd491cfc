// Made from the programs beside this file by `npm run generate`; edit those, not this.

/** A program: its digest, and its text, which is put together only for a server that does not know it. */
export interface Program {
  readonly sha1: string
  readonly source: () => string
}

const clock = `local call,KEYS=redis.call,KEYS
local pack,an=struct.pack,struct.unpack
local j=cjson.decode(ARGV[1])
local bF=j[1]
local bH=bF==0 and call('TIME')
local v=bH and bH[1]*1000000+bH[2]or bF
`

const state = `local dD,dB,aB,dE,ac,bK=w'strings'
local cC=ARGV[2]and ARGV[2]~=''and cjson.decode(ARGV[2])
if not cC then
return dD,dB,aB,dE,ac
end
local bJ,cO=w'packed-value'
local function bz(b)
if cC[2*b]<0 then return nil end
return pack('>I4I4',cC[2*b-1],cC[2*b])
end
local function am(b)
local ao=bz(b)
if not ao then return dD(b)end
local cx=redis.pcall('HMGET',KEYS[b],ao,'')
if cx.err then return false end
return cx[1]and bJ(cx[1],cx[2]or'')
end
local function eg(at,ao,c,n)
local G=redis.pcall('HGET',at,'')
if type(G)=='table'then call('DEL',at)end
if type(G)~='string'or#G<6 or(#G-6)%13>0 then G=false end
local bs,aD=cO(c,G and string.sub(G,7)or'')
local ad=G and an('>I6',G)or 0
local aP
if bF==0 and ad*1000>=n then
if#G==6+#aD then
aP=call('HSET',at,ao,bs)
else
aP=call('HSET',at,ao,bs,'',string.sub(G,1,6)..aD)
end
else
local cU=n+math.max(0,n-v)/4
aP=call('HSET',at,ao,bs,'',pack('>I6',math.max(ad,math.floor(cU/1000)))..aD)
if bF~=0 and G then
call('PEXPIREAT',at,bK(cU),'GT')
else
call('PEXPIREAT',at,bK(cU))
end
end
if aP>0 and bF==0 and v%16==0 then
w('sweep',bJ,ac)(at)
end
end
local function J(b,c,n)
local ao=bz(b)
if ao then return eg(KEYS[b],ao,c,n+ac)end
dB(b,c,n)
end
local function remove(b)
local ao=bz(b)
if not ao then
dE(b)
elseif type(redis.pcall('HGET',KEYS[b],ao))~='table'then
call('HDEL',KEYS[b],ao)
end
end
return am,J,aB,remove,ac,bz
`

const strings = `local ac=(ARGV[3]or 0)+0
local function am(b)
local c=redis.pcall('GET',KEYS[b])
return type(c)=='string'and c
end
local function bK(n)
if bF==0 then return math.floor(n/1000)end
local l=call('TIME')
return l[1]*1000+math.ceil(math.max(0,n-v)/1000)+60000
end
local function J(b,c,n)
call('SET',KEYS[b],c,'PXAT',bK(n+ac))
end
local function aB(b,n)
call('PEXPIREAT',KEYS[b],bK(n+ac))
end
local function remove(b)
call('DEL',KEYS[b])
end
return am,J,aB,remove,ac,bK
`

const packedValue = `local function bJ(c,G)
local y=#c
if y~=13 and y~=14 then return c end
local B,t,aa,x=an('>I3I4I5B',c)
if B<6291456 or B>=10485760 or#G<6+13*x or x<1 then return c end
local h,m,q=an('>I3I5I5',G,13*x-6)
local d=0
if y==14 then d=string.byte(c,14)end
return pack('>I3I4I3I5I3I5I5',B,t,d,aa,h,m,q)
end
local function cO(c,aD)
if#c~=28 then return c,aD end
local B,t,d,aa=an('>I3I4I3I5',c)
if B<6291456 or B>=10485760 or d>255 then return c,aD end
local dz,x=string.sub(c,16),0
for u=1,#aD,13 do
if string.sub(aD,u,u+12)==dz then x=(u+12)/13 end
end
if x==0 then
if#aD>51 then return c,aD end
aD=aD..dz
x=#aD/13
end
local bs=pack('>I3I4I5B',B,t,aa,x)
if d>0 then bs=bs..string.char(d)end
return bs,aD
end
return bJ,cO
`

const sweep = `local bJ,ac=...
local av=w'block-value'
local db=w'state-until'
return function(at)
local ba=call('HRANDFIELD',at,128,'WITHVALUES')
local G=call('HGET',at,'')
for x=1,#ba,2 do
local c=bJ(ba[x+1],G)
local f=av(c)
if ba[x]~=''and(db(c)or 0)+ac<=v and f+ac<=v then call('HDEL',at,ba[x])end
end
end
`

const blockValue = `local function av(c)
local f,I=0,c
if#c>=7 then
local B,t=an('>I3I4',c)
if B>=14680064 then f,I=(B-14680064)*4294967296+t,string.sub(c,8)end
end
if string.byte(I)==1 then return 9000000000000000,''end
return f,I
end
local function aU(f)
local t=f%4294967296
return pack('>I3I4',14680064+(f-t)/4294967296,t)
end
local function br(c,f)
if f+60000000<=v then return c end
return aU(f)..c
end
return av,aU,br
`

const stateUntil = `local bl=w'bucket-value'
local P,O=w'bucket-flow'
local Z,Z,bw=w('bucket-leases',P,O)
local bE,Z,aO=w'window-value'
local bD=w'counter-value'
return function(c)
local e,d,s,k,h,m,q,Z,o=bl(c,0)
if e then return bw(e,d,s,k,h,m,q,o or{})end
local i,Z,r,z=bE(c)
if i then return aO(i,r,z)end
local bd,E,Z,p=bD(c)
if bd and E>0 then return bd+p end
return bd
end
`

const bucketValue = `local av,Z,br=w'block-value'
local function dZ(d,s,k,h,m,q)
if d>=h or s>9007199254740991 or k>3200000000000000 then return false end
if m<1 or q<1 or m>9007199254 then return false end
return h*(q/1000000+2)<=9007199254740992 and q/h*m<=3200000000000000
end
local function bl(c,f)
local y=#c
local B,t,d,aa,s,k,h,m,q
if y==12 then
B,t,aa,h,q=an('>I3I4I3BB',c)
d,k,m,q=0,0,1,q*1000000
elseif y==28 then
B,t,d,aa,h,m,q=an('>I3I4I3I5I3I5I5',c)
k=0
elseif y>=49 and(y-49)%28==0 then
B,t,d,s,k,h,m,q=an('>I3I4I7I7I7I7I7I7',c)
end
if B and B>=6291456 and B<10485760 then
local e,o=(B-8388608)*4294967296+t,nil
s=s or e+aa
if not dZ(d,s,k,h,m,q)then return nil,nil,nil,nil,nil,nil,nil,0 end
for u=50,y,28 do
o=o or{}
o[#o+1]={an('>I7I7I7I7',c,u)}
end
return e,d,s,k,h,m,q,f,o
end
local de,I=av(c)
if de==0 or f>0 then return nil,nil,nil,nil,nil,nil,nil,0 end
if I==''then return nil,nil,nil,nil,nil,nil,nil,de end
return bl(I,de)
end
local function cb(e,d,s,k,h,m,q,f,o)
local t,aa=e%4294967296,s-e
local B=8388608+(e-t)/4294967296
local c
if k>0 or o or aa<0 or aa>=1099511627776 or h>=16777216 or q>=1099511627776 then
c=pack('>I3I4I7I7I7I7I7I7',B,t,d,s,k,h,m,q)
for Z,ah in ipairs(o or{})do c=c..pack('>I7I7I7I7',ah[1],ah[2],ah[3],ah[4])end
elseif m==1 and d==0 and aa<16777216 and h<256 and q<256000000 and q%1000000==0 then
c=pack('>I3I4I3BB',B,t,aa,h,q/1000000)
else
c=pack('>I3I4I3I5I3I5I5',B,t,d,aa,h,m,q)
end
if f>0 then return br(c,f)end
return c
end
return bl,cb
`

const bucketFlow = `local function P(h,m,aS,V)
local bo=m*1000000
local cq,dt=bo%h,m%h
local aj=aS%1000000
local aN=(aS-aj)/1000000
local Q=V+aN*cq+aj*dt
local C=Q%h
return aN*((bo-cq)/h)+aj*((m-dt)/h)+(Q-C)/h,C
end
local function dy(h,m,dK,V,A)
local D=0
if A<=0 then return D end
local cS=(A-V/h)/(m*dK/h)*(1-2^-50)
if cS>0 then D=cS-cS%1 end
while true do
local bM,C=P(h,m,(D+1)*dK,V)
if bM>A or(bM==A and C>0)then return D end
D=D+1
end
end
local function O(e,d,h,m,aS,l)
if aS<0 then aS=0 end
local A,C=P(h,m,aS,0)
local t,by=l-A,0
if C>0 then t,by=t-1,h-C end
if e>t or(e==t and d>=by)then return e,d end
return t,by
end
local function aK(e,d,h,m,l)
local aN=dy(h,m,1000000,d,l-e)
local bM,C=P(h,m,aN*1000000,d)
e,d=e+bM,C
local aj=dy(h,m,1,d,l-e)
return aN*1000000+aj,e,d,aj
end
local function bj(h,m,aN)
local bo=m*1000000
local d=bo%h
local cj=d%131072
local bP=aN*((d-cj)/131072)
local L=bP%h
local cc=L*131072+aN*cj
local C=cc%h
return aN*((bo-d)/h)+(bP-L)/h*131072+(cc-C)/h,C
end
local function aW(h,m,q,l)
return math.min(l+3155760000000000,9007199254740990-(P(h,m,q,0)))
end
return P,O,aK,bj,aW
`

const bucketLeases = `local P,O=...
local function aq(o)
local aC=0
for Z,ah in ipairs(o)do aC=aC+ah[3]end
return aC
end
local function aF(e,d,h,m,q,o,l)
local aC,C=aq(o),{}
for Z,ah in ipairs(o)do
if ah[4]<=l and#C==0 then
e,d=O(e,d,h,m,q-aC,ah[4])
aC=aC-ah[3]
else
C[#C+1]=ah
end
end
if#C==0 then return e,d,nil end
e,d=O(e,d,h,m,q-aC,l)
return e,d,C
end
local function bw(e,d,s,k,h,m,q,o)
local aC=aq(o)
for Z,ah in ipairs(o)do
e,d=O(e,d,h,m,q-aC,ah[4])
aC=aC-ah[3]
end
local bM,C=P(h,m,q,d)
local n=e+bM
if C>0 then n=n+1 end
if k>0 and s+k>n then n=s+k end
return n
end
return aq,aF,bw
`

const windowValue = `local av,Z,br=w'block-value'
local function bE(c)
local f,I=0,c
if#c~=21 then f,I=av(c)end
if#I==21 then
local B,t,D,z,p=an('>I3I4I7BI6',I)
p=z%16*281474976710656+p
if B>=10485760 and B<12582912 and p>0 then
return(B-10485760)*4294967296+t,D,p,math.floor(z/16),f
end
end
if I==c then f,I=av(c)end
return nil,nil,nil,nil,I==''and f or 0
end
local function cs(i,D,p,z,f)
local t,bm=i%4294967296,p%281474976710656
local dd=z*16+(p-bm)/281474976710656
local c=pack('>I3I4I7BI6',10485760+(i-t)/4294967296,t,D,dd,bm)
if f>0 then return br(c,f)end
return c
end
local function aO(i,p,z)
if z>2 then return i+p end
return i+math.ceil(p/(z==2 and 4 or z==1 and 16 or 64))
end
return bE,cs,aO
`

const counterValue = `local av,Z,br=w'block-value'
local function bD(c)
local f,I=0,c
if#c~=28 then f,I=av(c)end
if#I==28 then
local B,t,E,H,af,p=an('>I3I4I7I7BI6',I)
p=af%16*281474976710656+p
if B>=12582912 and B<14680064 and p>0 then
return(B-12582912)*4294967296+t,E,H,p,math.floor(af/16),f
end
end
if I==c then f,I=av(c)end
return nil,nil,nil,nil,nil,I==''and f or 0
end
local function cf(i,E,H,p,af,f)
local t,bm=i%4294967296,p%281474976710656
local dd=af*16+(p-bm)/281474976710656
local c=pack('>I3I4I7I7BI6',12582912+(i-t)/4294967296,t,E,H,dd,bm)
if f>0 then return br(c,f)end
return c
end
return bD,cf
`

const drop = `local J,remove,ac=...
local Z,aU=w'block-value'
return function(b,f)
if f>v then return J(b,aU(f),f)end
if ac>0 then return J(b,aU(1),v)end
remove(b)
end
`

const bucketAdopt = `local P,O,aK,bj,aW,aq,aF=...
local function cJ(e,d,s,k,T,N,ai,h,m,q,o)
local l=v
if s>v then l=s end
if o then
e,d,o=aF(e,d,T,N,ai,o,l)
end
local dn,cR=P(T,N,ai,0)
local be,dU=P(T,N,ai,d)
local f=e+be
if dU>0 then f=f+1 end
if k>0 and s+k>f then f=s+k end
if f<=l then return nil end
local cA=dn
if cR>0 then cA=dn+1 end
e,d=O(e,d,T,N,ai,l)
local cg=0
if e>l or(e==l and d>0)then
local bo=N*1000000
local cq=bo%T
cg=math.min(9007199256,math.floor((e-l+1)/((bo-cq)/T+cq/T))+1)
local J,eh=bj(T,N,cg)
e,d=e-J,d-eh
if d<0 then e,d=e-1,d+T end
end
local aS,aj
aS,e,d,aj=aK(e,d,T,N,l)
local aL=(l-e)*T-d-aj*N
local ac=0
if cg==0 and aS>=q then
aS=q
elseif aL>0 then
local cj=m%131072
local bP=aL*((m-cj)/131072)
local cc=(bP%N)*131072+aL*cj
ac=(bP-bP%N)/N*131072+(cc-cc%N)/N
end
local A,eo=P(h,m,aS,0)
local cL=eo+ac
if k>cA then cA=k end
e,d=l-A-(cL+(-cL)%h)/h,(-cL)%h
if cg>0 then
local ee,ef=bj(h,m,cg)
e,d=e+ee,d+ef
if d>=h then e,d=e+1,d-h end
end
local bv=aW(h,m,q,l)
if e>bv or(e==bv and d>0)then e,d=bv,0 end
if o then
e,d=O(e,d,h,m,q-aq(o),l)
end
return e,d,l,cA,o
end
return cJ
`

const windowAdopt = `local aO=...
local function dm(g,l)
local r=j[g+3]
if j[g+4]==1 then return l+r end
local dI=l-j[g+8]
return dI-dI%r+r+j[g+8]
end
local function bZ(i,D,p,z,g)
local r=j[g+3]
if p==r and z<5 then return i,D,p,z,false end
if v>=i then
if v>=aO(i,p,z)then return nil end
return i,D,p,z,false
end
if z==6 then
if r<=p then return i,D,p,z,false end
return i,9007199254740991,r,4,true
end
if p==r then return i,D,p,4,true end
if r<p and z>=4 then return i,D,p,z,false end
local ad=dm(g,v)
if r>p and j[g+4]==1 then
ad=i-p+r
elseif i>ad then
ad=i
end
return ad,D,math.max(p,r),4,true
end
local function ca(i,p,z,g)
local r,au=j[g+3],dm(g,v)
if not i or v>=aO(i,p,z)then return au,r,0 end
if r>p then return math.max(au,i+p),r,4 end
if r<p and z<5 then return i+p,p,5 end
if j[g+4]~=1 and au-r<i then au=au+r end
return au,r,0
end
local function co(i,D,p,z,g)
local W,r,aL=j[g+2],j[g+3],0
if z>=5 and r<p then
aL=math.max(0,math.min(math.floor((v-i+p)/r),math.floor(p/r)-1))
end
local ab,ak=i-p+aL*r,aL*W
local K=math.max(0,D-ak)
if z==6 or z==5 and ak>9007199254740991-2*W then return ab,0,K,i-ab,6 end
return ab,ak,K,p,z
end
local function bV(z,D,W)
if z>=4 then return z end
if D*4>W then return 3 end
return D*16>W and 2 or D*64>W and 1 or 0
end
return bZ,ca,co,bV
`

const counterAdopt = `local function bU(i,E,H,r)
if i and v<i then return i,E,H end
if not i or v>=i+r then return v-v%r+r,0,0 end
return i+r,0,E
end
local function bY(i,E,H,p,af,g)
local r=j[g+3]
if p==r then
if af==0 or v>=i then return i,E,H,p,af,false end
return i,E,H,p,0,true
end
if p>r and v<i then return i,E,H,p,af,false end
i,E,H=bU(i,E,H,p)
if p>r and af==0 then
if H==0 then return nil end
return i,E,H,p,1,true
end
i=i-p+r
if v>=i or E+H==0 then return nil end
return i,E,H,r,0,true
end
local function cp(i,H,p,g)
if H==0 then return 0 end
local bR=j[g+4]
if p~=j[g+3]then
bR=1
while p/bR>1000000 do bR=bR*10 end
end
local cH=math.floor(p/bR)
local C=math.min(cH,math.ceil((i-v)/bR))
local aN=math.floor(H/1000000)
local dA=aN*C
local cr=math.floor(dA/cH)
local d=(dA-cr*cH)*1000000+(H-aN*1000000)*C
return cr*1000000+math.ceil(d/cH)
end
return bY,bU,cp
`

const logValue = `local J,aB=...
local av=w'block-value'
local az,as,bg,bh=47,14,64,4503599627370496
local function du(b,f)
return{b=b,y=0,X=0,ak=0,u=0,Q=0,p=0,k=0,f=f,aw=0,cv=true}
end
local function ec(b)
local at,a=KEYS[b],du(b,0)
local c=redis.pcall('GETRANGE',at,0,az+bg*as-1)
if type(c)~='string'then return a end
local r=#c
if r==az+bg*as then r=call('STRLEN',at)end
if r<az or string.byte(c)~=2 or(r-az)%as>0 then
local f,I=av(c)
if I==''then a.f=f end
return a
end
local Z,f,p,k,ak,u,Q,X=an('>BI7I7I7I7I7I7I4',c)
local aw=(r-az)/as
if X>aw or p<1 then return a end
a.aM,a.cv,a.aw,a.y=true,false,aw,aw+1
a.f,a.p,a.k,a.ak,a.u,a.Q,a.X=f,p,k,ak,u,Q,X
a.cY={[0]=string.sub(c,az+1)}
return a
end
local function aJ(a,S)
if S==a.y-1 then return a.u,a.Q end
if S==a.aw then return a.dw,a.dx end
local x=S%bg
local cV=(S-x)/bg
local cG=a.cY[cV]
if not cG then
local V=az+cV*bg*as
cG=call('GETRANGE',KEYS[a.b],V,V+bg*as-1)
a.cY[cV]=cG
end
local u,Q=an('>I7I7',cG,x*as+1)
return u,Q
end
local function ar(a,S)
if S<a.X then return 0 end
local Z,Q=aJ(a,S)
return(Q-a.ak)%bh
end
local function bt(a,dY,V)
local t,B=V,a.y
while t<B do
local bA=math.floor((t+B)/2)
if aJ(a,bA)>dY then B=bA else t=bA+1 end
end
return t
end
local function ci(a,Q,V)
local t,B=V,a.y
while t<B do
local bA=math.floor((t+B)/2)
if ar(a,bA)>=Q then B=bA else t=bA+1 end
end
return t
end
local function dR(a,al)
local V=al.V
a.cQ,a.aM,a.p,a.k=true,true,al.p,al.k
if V==a.y then
a.cv,a.aw,a.y,a.X,a.ak,a.u,a.Q=true,0,1,0,0,al.l,al.R
return
end
if V>a.X then
local Z,ak=aJ(a,V-1)
a.ak,a.X=ak,V
end
if not al.bL then
a.dw,a.dx,a.y=a.u,a.Q,a.y+1
end
a.u,a.Q=al.l,(a.Q+al.R)%bh
end
local function ds(a,X)
return pack('>BI7I7I7I7I7I7I4',2,a.f,a.p,a.k,a.ak,a.u,a.Q,X)
end
local function dr(a)
local n=a.u+a.p
if a.k>a.p then n=a.u+a.k end
if a.f>n then n=a.f end
return n
end
local function el(a)
local n=dr(a)
local cl=a.y-1>a.aw
local aP=''
if cl and a.X<=a.aw then aP=pack('>I7I7',a.dw,a.dx)end
local X=a.X
local cr=a.cv or a.aw<=bg or X>a.y-X
if cr then X=0 end
local G=ds(a,X)
if cr then
local bi=''
if not a.cv then
if a.aw<=bg then
bi=string.sub(a.cY[0],a.X*as+1)
else
bi=call('GETRANGE',KEYS[a.b],az+a.X*as,-1)
end
end
return J(a.b,G..bi..aP,n)
end
call('SETRANGE',KEYS[a.b],0,G)
if cl then call('APPEND',KEYS[a.b],aP)end
aB(a.b,n)
end
return{
az=az,
as=as,
bh=bh,
eb=du,
ap=ec,
aJ=aJ,
ar=ar,
bt=bt,
ci=ci,
al=dR,
G=ds,
n=dr,
cI=el,
}
`

const logAdopt = `local F=...
local bt,ar=F.bt,F.ar
local dM=10000
local function bq(a,g)
local r=j[g+3]
if not a.aM or a.p==r then return a end
local k=a.p
if a.k>k then k=a.k end
if a.u+k<=v then
return F.eb(a.b,a.f)
end
a.p,a.cQ=r,true
if k>r then a.k=k else a.k=0 end
return a
end
local function bW(a,g)
local l=v
if a.u>v then l=a.u end
local L=bt(a,l-j[g+3],a.X)
return l,L,ar(a,a.y-1)-ar(a,L-1)
end
local function ce(a,g,L,l,R)
local V,k,ae=L,a.k,j[g+4]
if k>0 then V,ae=bt(a,l-k,a.X),dM end
local aR=a.y-V
local bL=aR>0 and a.u==l
if not bL and aR>=ae then
if V<L then V=V+1 else bL=true end
end
if aR==0 then k=0 end
return{V=V,l=l,bL=bL,R=R,p=j[g+3],k=k}
end
return bq,bW,ce
`

const logRefund = `local F,aI,J,aE=...
local aJ,ar,az,as,bh=F.aJ,F.ar,F.az,F.as,F.bh
return function(a,L,bO,bb)
local C,ab,ax=bb,a.y,{}
local function dJ(S)
local aL=ar(a,S)-ar(a,S-1)
if aL>C then aL=C end
ax[S],C=aL,C-aL
end
if aE<0 then
while ab>L and C>0 do
ab=ab-1
dJ(ab)
end
elseif aE>bO then
ab=F.bt(a,aE-1,L)
for S=ab,a.y-1 do dJ(S)end
end
if C==bb then return false end
local bn,Q={},(a.ak+ar(a,ab-1))%bh
for S=ab,a.y-1 do
local d=ar(a,S)-ar(a,S-1)-(ax[S]or 0)
if d>0 then
Q=(Q+d)%bh
bn[#bn+1]={(aJ(a,S)),Q}
end
end
local cu=ab
if#bn==0 then
if ab==a.X then
aI(a.b,a.f)
return true
end
cu=ab-1
a.u,a.Q=aJ(a,cu)
else
a.u,a.Q=unpack(bn[#bn])
end
local bi=''
if cu>a.X then bi=call('GETRANGE',KEYS[a.b],az+a.X*as,az+cu*as-1)end
for S=1,#bn-1 do bi=bi..pack('>I7I7',bn[S][1],bn[S][2])end
J(a.b,F.G(a,0)..bi,F.n(a))
return true
end
`

const bucketRow = `local h,m,q=j[g+1],j[g+2],j[g+3]
local bc,aA,R,bI=j[g+4],j[g+5],j[g+6],j[g+7]
if j[g]==0 then
local aj=bc*m
bI=aj%h
R=(aj-bI)/h
aj=q*m
aA=-aj%h
bc=(aj+aA)/h
end
`

const bucket = `local am,c=w'bucket-value'
local P,O,aK,bj,aW=w'bucket-flow'
local aq,aF,n=w('bucket-leases',P,O)
local bG=w('bucket-adopt',P,O,aK,bj,aW,aq,aF)
return{
am=am,
c=c,
P=P,
O=O,
aK=aK,
aW=aW,
aq=aq,
aF=aF,
n=n,
bG=bG,
}
`

const bucketStep = `local l,f,U=v,0,0
local e,d,s,k,o,ag,bX,n
if c then
local y=#c
local B,t,aa,T,N,ai
if y==12 then
B,t,aa,T,ai=an('>I3I4I3BB',c)
d,k,N,ai=0,0,1,ai*1000000
elseif y==28 then
B,t,d,aa,T,N,ai=an('>I3I4I3I5I3I5I5',c)
k=0
end
local ek=T==h and N==m and ai==q
if ek and B>=6291456 and B<10485504 and d<h then
e=(B-8388608)*4294967296+t
s=e+aa
else
aX=aX or cZ(v,pack,an)
e,d,s,k,T,N,ai,f,o=aX.am(c,0)
end
if e then
if T~=h or N~=m or ai~=q then
e,d,s,k,o=aX.bG(e,d,s,k,T,N,ai,h,m,q,o)
ag=e
end
if e and s>v then l=s end
if o then
e,d,o=aX.aF(e,d,h,m,q,o,l)
end
end
end
local bO=l-bc
if not e then
e,d,k=bO,aA,0
elseif e<bO or(e==bO and d<=aA)then
e,d=bO,aA
if k>0 and l>=s+k then k=0 end
end
local ap=ay
if f>v then ap=0 end
while U<ap do
local cm,C=e+R,d+bI
if C>=h then cm,C=cm+1,C-h end
if cm>l or(cm==l and C>0)then break end
e,d,U=cm,C,U+1
end
if U>0 or ag then
n=e+bc
if d>aA then n=n+1 end
local aa,t=l-e,e%4294967296
if k>0 or f>0 or o or aa<0 or aa>=1099511627776 or h>=16777216 or q>=1099511627776 then
aX=aX or cZ(v,pack,an)
bX=aX.c(e,d,l,k,h,m,q,f,o)
if o then
n=aX.n(e,d,l,k,h,m,q,o)
elseif k>0 and l+k>n then
n=l+k
end
if f>n then n=f end
elseif m==1 and d==0 and aa<16777216 and h<256 and q<256000000 and q%1000000==0 then
bX=pack('>I3I4I3BB',8388608+(e-t)/4294967296,t,aa,h,q/1000000)
else
bX=pack('>I3I4I3I5I3I5I5',8388608+(e-t)/4294967296,t,d,aa,h,m,q)
end
end
`

const window = `local bE,cs,aO=w'window-value'
local bZ,ca,co,bV=w('window-adopt',aO)
return function(c,g,ay)
local R,W,dC=j[g+1],j[g+2],j[g+5]
local f,U=0,0
local i,D,A,z,ag
if c then
i,D,A,z,f=bE(c)
if i then i,D,A,z,ag=bZ(i,D,A,z,g)end
end
if not(i and v<i)then
i,A,z=ca(i,A,z,g)
D=0
end
local ab,ak,K,bx,bp=co(i,D,A,z,g)
local cw,ae=v-ab,W
if dC>0 and cw<dC then
if cw<0 then cw=0 end
local cy=math.floor(cw*j[g+6]/j[g+7])
if cy<1000000 then cy=1000000 end
if cy<ae then ae=cy end
end
if f>v then ay=0 end
while U<ay and K+R<=ae do
K,U=K+R,U+1
end
if U>0 then
D,A=ak+K,bx
z=bV(bp,D,W)
elseif not ag then
return 0
end
local n=aO(i,A,z)
if f>n then n=f end
return U,cs(i,D,A,z,f),n
end
`

const counter = `local bD,cf=w'counter-value'
local bY,bU,cp=w'counter-adopt'
return function(c,g,ay)
local R,W,r=j[g+1],j[g+2],j[g+3]
local f,U,H,A,af=0,0,0,r,0
local i,E,ag
if c then
i,E,H,A,af,f=bD(c)
if i then i,E,H,A,af,ag=bY(i,E,H,A,af,g)end
end
if not(i and v<i)then
i,E,H=bU(i,E,H,r)
A,af=r,0
end
local bf=W-cp(i,H,A,g)
if f>v then ay=0 end
while U<ay and E+R<=bf do
E,U=E+R,U+1
end
if U==0 and not ag then return 0 end
local n=i
if E>0 then n=i+A end
if f>n then n=f end
return U,cf(i,E,H,A,af,f),n
end
`

const log = `local F=...
local aJ,ar,ci=F.aJ,F.ar,F.ci
local bq,bW,ce=w('log-adopt',F)
local function dl(a,g,L,ad,cn,K,R)
local S=ci(a,ar(a,L-1)+K+R-j[g+2],L)
if S<ad then cn=aJ(a,S)end
return cn+j[g+3]
end
local function cB(a,g,L,ad,cn,K)
local W=j[g+2]
local bS,bT=0,0
if W>K then bS=math.floor((W-K)/1000000)end
if K>0 then bT=cn+j[g+3]-v end
local cl=(bS+1)*1000000
if cl>W then return bS,bT,bT end
return bS,dl(a,g,L,ad,cn,K,cl)-v,bT
end
local function cP(a,g,R)
local W=j[g+2]
local l,L,K=bW(a,g)
if R>W-K then
if R>W then return 2,0,cB(a,g,L,a.y,a.u,K)end
return 1,dl(a,g,L,a.y,l,K,R)-v,cB(a,g,L,a.y,a.u,K)
end
local al=ce(a,g,L,l,R)
local ad=a.y
if al.bL then ad=ad-1 end
local bS,ej,bT=cB(a,g,L,ad,l,K+R)
return 0,0,bS,ej,bT,al
end
local function dg(a,g)
local Z,L,K=bW(a,g)
return cB(a,g,L,a.y,a.u,K)
end
return bq,cP,dg
`

export const adjustProgram: Program = {
  sha1: 'fd0920398ee282c08b3e1bae1a10f65a64dd78c9',
  source: () =>
    [
      ``,
      clock,
      `local function w(M,...)
if M=='state'then
`,
      state,
      `elseif M=='strings'then
`,
      strings,
      `elseif M=='packed-value'then
`,
      packedValue,
      `elseif M=='sweep'then
`,
      sweep,
      `elseif M=='block-value'then
`,
      blockValue,
      `elseif M=='state-until'then
`,
      stateUntil,
      `elseif M=='bucket-value'then
`,
      bucketValue,
      `elseif M=='bucket-flow'then
`,
      bucketFlow,
      `elseif M=='bucket-leases'then
`,
      bucketLeases,
      `elseif M=='window-value'then
`,
      windowValue,
      `elseif M=='counter-value'then
`,
      counterValue,
      `elseif M=='drop'then
`,
      drop,
      `elseif M=='bucket-adopt'then
`,
      bucketAdopt,
      `elseif M=='window-adopt'then
`,
      windowAdopt,
      `elseif M=='counter-adopt'then
`,
      counterAdopt,
      `elseif M=='log-value'then
`,
      logValue,
      `elseif M=='log-adopt'then
`,
      logAdopt,
      `elseif M=='log-refund'then
`,
      logRefund,
      `end
end
local aE=j[2]
local am,J,aB,remove,ac=w'state'
local aI=w('drop',J,remove,ac)
local ct=9000000000000000
local function di(b,g,aY)
local bl,cb=w'bucket-value'
local P,O,aK,bj,aW=w'bucket-flow'
local aq,aF,bw=w('bucket-leases',P,O)
`,
      bucketRow,
      `local l,f=v,0
local c=am(b)
local e,d,s,k,o,ag
if c then
local T,N,ai
e,d,s,k,T,N,ai,f,o=bl(c,0)
if f==ct then return true end
if e and(T~=h or N~=m or ai~=q)then
local cJ=w('bucket-adopt',P,O,aK,bj,aW,aq,aF)
e,d,s,k,o=cJ(e,d,s,k,T,N,ai,h,m,q,o)
ag=true
end
if e and s>v then l=s end
end
if aY>0 and aE>=0 and aE<=l-bc then
if not ag then return end
if not e then return aI(b,f)end
else
if o then e,d,o=aF(e,d,h,m,q,o,l)end
local t=l-bc
if not e then
e,d,k=t,aA,0
elseif e<t or(e==t and d<=aA)then
e,d=t,aA
if k>0 and l>=s+k then k=0 end
end
local ae,bB=l+bc,0
if aA>0 then ae,bB=ae-1,h-aA end
local bv=aW(h,m,q,l)
if ae>bv or(ae==bv and bB>0)then ae,bB=bv,0 end
if e>ae or(e==ae and d>bB)then ae,bB=e,d end
local Q=d-aY*bI
local C=Q%h
e,d,s=e-aY*R+(Q-C)/h,C,l
if aY<0 and(e>ae or(e==ae and d>bB))then e,d=ae,bB end
if o then e,d=O(e,d,h,m,q-aq(o),l)end
end
local n=e+bc
if d>aA then n=n+1 end
if k>0 and s+k>n then n=s+k end
if o then
n=bw(e,d,s,k,h,m,q,o)
elseif n<=l then
return aI(b,f)
end
if f>n then n=f end
J(b,cb(e,d,s,k,h,m,q,f,o),n)
end
local function dP(b,g,aY)
local bE,cs,aO=w'window-value'
local bZ,ca,co,bV=w('window-adopt',aO)
local bb,W=j[g+1],j[g+2]
local f=0
local c=am(b)
local i,D,A,z,ag
if c then
local aM
i,D,A,z,f=bE(c)
if f==ct then return true end
aM=i
if i then i,D,A,z,ag=bZ(i,D,A,z,g)end
if aM and not i then aI(b,f)end
end
local ad,bx,bp,ax=i,A,z,D
if not(i and v<i)then
ad,bx,bp=ca(i,A,z,g)
ax=0
end
local ab,ak,K
ab,ak,K,bx,bp=co(ad,ax,bx,bp,g)
if aY>0 then
if K>0 and not(aE>=0 and aE<ab)then
ax,ag=ak+K-math.min(bb,K),true
if ax==0 and bp<4 then return aI(b,f)end
i,D,A,z=ad,ax,bx,bV(bp,ax,W)
end
elseif K<2*W then
ax,ag=ak+math.min(2*W,K+bb),true
i,D,A,z=ad,ax,bx,bV(bp,ax,W)
end
if not ag then return end
J(b,cs(i,D,A,z,f),math.max(aO(i,A,z),f))
end
local function dN(b,g,aY)
local bD,cf=w'counter-value'
local bY,bU,cp=w'counter-adopt'
local bb,W,r=j[g+1],j[g+2],j[g+3]
local f=0
local c=am(b)
local i,E,H,A,af,ag
if c then
local aM
i,E,H,A,af,f=bD(c)
if f==ct then return true end
aM=i
if i then i,E,H,A,af,ag=bY(i,E,H,A,af,g)end
if aM and not i then aI(b,f)end
end
local aR=i and v<i
local bd,cD,cE=bU(i,E,H,r)
if not aR then A,af=r,0 end
if aY<0 then
local bf=2*W-cD-cp(bd,cE,A,g)
if bf>0 then
i,E,H,ag=bd,cD+math.min(bf,bb),cE,true
end
elseif not(aE>=0 and aE<bd-2*A)then
local ab=bd-A
local cF,cW=math.min(cD,bb),0
if aE>=0 and aE<ab then cF=0 end
if aE<ab then cW=math.min(cE,bb-cF)end
if cF+cW>0 then
i,E,H,ag=bd,cD-cF,cE-cW,true
if E+H==0 then return aI(b,f)end
end
end
if not ag then return end
local n=i
if E>0 then n=i+A end
J(b,cf(i,E,H,A,af,f),math.max(n,f))
end
local function dO(b,g,aY)
local F=w('log-value',J,aB)
local bq,bW,ce=w('log-adopt',F)
local aw=F.ap(b)
if aw.f==ct then return true end
local a=bq(aw,g)
if aw.aM and not a.aM then aI(b,a.f)end
local l,L,K=bW(a,g)
if aY>0 then
local ei=w('log-refund',F,aI,J,aE)
if ei(a,L,l-j[g+3],j[g+1])then return end
else
local aP=math.min(j[g+1],2*j[g+2]-K)
if aP>0 then F.al(a,ce(a,g,L,l,aP))end
end
if a.cQ then F.cI(a)end
end
local aV={[0]=di,dP,dN,dO,di}
local bC={}
for x=1,j[3]do
local g=j[2+2*x]
if aV[j[g]](x,g,j[3+2*x])then bC[#bC+1]=x end
end
return bC
`,
    ].join(''),
}

export const blockProgram: Program = {
  sha1: '28505e7b61b60c1d65f4e68564464b4ed0c50ca9',
  source: () =>
    [
      ``,
      clock,
      `local function w(M,...)
if M=='state'then
`,
      state,
      `elseif M=='strings'then
`,
      strings,
      `elseif M=='packed-value'then
`,
      packedValue,
      `elseif M=='sweep'then
`,
      sweep,
      `elseif M=='block-value'then
`,
      blockValue,
      `elseif M=='state-until'then
`,
      stateUntil,
      `elseif M=='bucket-value'then
`,
      bucketValue,
      `elseif M=='bucket-flow'then
`,
      bucketFlow,
      `elseif M=='bucket-leases'then
`,
      bucketLeases,
      `elseif M=='window-value'then
`,
      windowValue,
      `elseif M=='counter-value'then
`,
      counterValue,
      `elseif M=='log-value'then
`,
      logValue,
      `end
end
local am,J,aB,remove,Z,bz=w'state'
local av,aU=w'block-value'
local db=w'state-until'
local function eq(c)
local bl,cb=w'bucket-value'
local P,O=w'bucket-flow'
local aq,aF,bw=w('bucket-leases',P,O)
local e,d,s,k,h,m,q,Z,o=bl(c,0)
if not o then return nil,''end
local l=v
if s>v then l=s end
e,d,o=aF(e,d,h,m,q,o,l)
if not o then return nil,''end
e,d=O(-math.huge,0,h,m,q-aq(o),l)
c=cb(e,d,l,k,h,m,q,0,o)
return bw(e,d,l,k,h,m,q,o),c
end
local r=j[2]
local bC={}
local function dQ(b)
local F=w('log-value',J,aB)
local a=F.ap(b)
if r<0 or not a.aM then return a.f,''end
a.f=0
if r>0 then a.f=v+r end
call('SETRANGE',KEYS[b],0,F.G(a,a.X))
aB(b,F.n(a))
end
for b=1,#KEYS do
local ao,c=bz and bz(b),nil
if ao then c=am(b)else c=redis.pcall('GETRANGE',KEYS[b],0,2047)end
if type(c)~='string'then c=''end
local f,I,n=0,c,nil
if string.byte(c)==2 then
f,I=dQ(b)
elseif c~=''then
f,I=av(c)
n=db(c)
if f==9000000000000000 then
f=0
if r>=0 then bC[#bC+1],I=b,nil end
elseif not n and I~=''then
f,I=0,''
end
end
if I then
if r<0 then
n,I=eq(I)
elseif r>0 then
f=v+r
else
f=0
end
if f>0 then
if I~=''then
J(b,aU(f)..I,math.max(f,n))
elseif f>v then
J(b,aU(f),f)
elseif ao then
call('HSET',KEYS[b],ao,aU(f))
else
call('SET',KEYS[b],aU(f),'KEEPTTL')
end
elseif I~=''then
J(b,I,n)
elseif c~=''or r<0 then
remove(b)
end
end
end
return bC
`,
    ].join(''),
}

export const bucketsProgram: Program = {
  sha1: '300c65d1a382b09666625f62de85200b870f0be6',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,an,format=struct.pack,struct.unpack,string.format
local bH=call('TIME')
local v=bH[1]*1000000+bH[2]
local aX
local function cZ(v,pack,an)
local function w(M,...)
if M=='bucket'then
`,
      bucket,
      `elseif M=='bucket-value'then
`,
      bucketValue,
      `elseif M=='block-value'then
`,
      blockValue,
      `elseif M=='bucket-flow'then
`,
      bucketFlow,
      `elseif M=='bucket-leases'then
`,
      bucketLeases,
      `elseif M=='bucket-adopt'then
`,
      bucketAdopt,
      `end
end
return w'bucket'
end
local h,m,q=ARGV[1]+0,ARGV[2]+0,ARGV[3]+0
local aj=ARGV[4]*m
local bI=aj%h
local R=(aj-bI)/h
aj=q*m
local aA=-aj%h
local bc=(aj+aA)/h
local aZ,dS,ac=#KEYS,#ARGV>5,ARGV[5]+0
local Y={}
if aZ==1 then
Y=call('MGET',KEYS[1])
elseif aZ>1 then
Y=call('MGET',unpack(KEYS))
end
local bu,bm,ay={},aZ<=1000,1
for b=1,aZ do
local c=Y[b]
if dS then ay=ARGV[5+b]+0 end
`,
      bucketStep,
      `if bX then call('SET',KEYS[b],bX,'PXAT',format('%d',(n+ac)/1000))end
local r=0
if c then r=#c end
if r>255 or U>255 then bm=false end
bu[2*b-1],bu[2*b]=r,U
if not c then Y[b]=''end
end
local G
if bm then
G=string.char(1,unpack(bu))
else
for b=1,aZ do bu[b]=pack('>I4I4',bu[2*b-1],bu[2*b])end
G=string.char(4)..table.concat(bu,'',1,aZ)
end
return G..table.concat(Y)..pack('>I7',v)
`,
    ].join(''),
}

export const consumeProgram: Program = {
  sha1: 'c402fb81c73b6228ca99bce7dbc22128031bcd40',
  source: () =>
    [
      ``,
      clock,
      `local function w(M,...)
if M=='window'then
`,
      window,
      `elseif M=='window-value'then
`,
      windowValue,
      `elseif M=='block-value'then
`,
      blockValue,
      `elseif M=='window-adopt'then
`,
      windowAdopt,
      `elseif M=='counter'then
`,
      counter,
      `elseif M=='counter-value'then
`,
      counterValue,
      `elseif M=='counter-adopt'then
`,
      counterAdopt,
      `elseif M=='bucket'then
`,
      bucket,
      `elseif M=='bucket-value'then
`,
      bucketValue,
      `elseif M=='bucket-flow'then
`,
      bucketFlow,
      `elseif M=='bucket-leases'then
`,
      bucketLeases,
      `elseif M=='bucket-adopt'then
`,
      bucketAdopt,
      `elseif M=='state'then
`,
      state,
      `elseif M=='strings'then
`,
      strings,
      `elseif M=='packed-value'then
`,
      packedValue,
      `elseif M=='sweep'then
`,
      sweep,
      `elseif M=='state-until'then
`,
      stateUntil,
      `elseif M=='log-value'then
`,
      logValue,
      `elseif M=='log'then
`,
      log,
      `elseif M=='log-adopt'then
`,
      logAdopt,
      `end
end
local aV,F={},nil
local function cT(dc)
if dc==1 then
aV[1]=w'window'
elseif dc==2 then
aV[2]=w'counter'
else
local aX
local function cZ()
return w'bucket'
end
local function aH(c,g,ay)
`,
      bucketRow,
      bucketStep,
      `return U,bX,n
end
aV[0],aV[4]=aH,aH
end
return aV[dc]
end
local bk=j[3]
local am,J,aB
if ARGV[2]or bF~=0 or bk<#KEYS or bk>4000 then am,J,aB=w'state'end
local Y={}
if ARGV[2]and ARGV[2]~=''then
for b=1,bk do Y[b]=am(b)end
elseif bk>0 then
Y=call('MGET',unpack(KEYS,1,math.min(bk,4000)))
for b=4001,bk do Y[b]=am(b)end
end
local be,n={},{}
local aT,y={},0
local cN,cM={},j[2]%2
for x=5+j[4]-(j[2]-cM)/2,4+j[4]do cN[j[x]]=true end
local ck,ch,bf={},0,1
local function dh(u,aG,G,s)
for x=u,u+2*aG-2,2 do
local b,g=j[x],j[x+1]
if j[g]==3 then
aT[G+3],aT[G+4],aT[G+5]=F.ep(s[b],g)
G=G+5
end
end
end
local function dX(u,aG)
local ap=true
local aZ,f,s,ax,dj={},{},{},{},{}
local G=y
for x=u,u+2*aG-2,2 do
local b,g=j[x],j[x+1]
if j[g]==3 then
if not s[b]then s[b]=F.bG(F.dv(b),g)end
local a,R=s[b],(ax[b]or 0)+j[g+1]
ax[b]=R
local cX
cX,aT[y+2],aT[y+3],aT[y+4],aT[y+5],dj[b]=F.dT(a,g,R)
aT[y+1]=cX
y=y+5
if cX>0 or a.f>v then ap=false end
elseif ap then
local U,c,bN=(aV[j[g]]or cT(j[g]))(aZ[b]or be[b]or Y[b],g,1)
if U==0 then ap=false else aZ[b],f[b]=c,bN end
end
end
if ap then
for x=u,u+2*aG-2,2 do
if cN[j[x]]and not Y[j[x]]then return 0 end
end
if cM==0 then dh(u,aG,G,s)end
for b,c in pairs(aZ)do be[b],n[b]=c,f[b]end
for b,al in pairs(dj)do F.al(b,s[b],al)end
return 1
end
dh(u,aG,G,s)
for x=u,u+2*aG-2,2 do
local b,g=j[x],j[x+1]
if j[g]~=3 then
local Z,c,bN=(aV[j[g]]or cT(j[g]))(be[b]or Y[b],g,0)
if c then be[b],n[b]=c,bN end
end
end
return 0
end
if bk<#KEYS then
local ba,ap=w('log-value',J,aB),{}
local bq,cP,dg=w('log',ba)
F={
dv=function(b)
if not ap[b]then ap[b]=ba.ap(b)end
return ap[b]
end,
bG=bq,
dT=cP,
ep=dg,
al=function(b,a,al)
ap[b]=a
ba.al(a,al)
end,
cI=function()
for Z,a in pairs(ap)do
if a.cQ then ba.cI(a)end
end
end,
}
for b=bk+1,#KEYS do
local a=F.dv(b)
Y[b]=(a.aM or a.f>0)and a.f
end
end
local u,ad=5+j[4],#j
while u<=ad do
local aG=j[u]
local L,dk,g,ay=1,1,0,1
if aG==0 then g,L,dk,ay=j[u+1],j[u+2],j[u+3],j[u+4]end
for b=L,dk do
local U,c,bN
if aG==0 then
U,c,bN=(aV[j[g]]or cT(j[g]))(be[b]or Y[b],g,ay)
if cN[b]and not Y[b]then
U=0
elseif c then
be[b],n[b]=c,bN
end
else
U=dX(u+1,aG)
end
if bf*(ay+1)>4503599627370496 then
ck[#ck+1]=ch
ch,bf=0,1
end
ch,bf=ch*(ay+1)+U,bf*(ay+1)
end
u=u+5
if aG>0 then u=u-4+2*aG end
end
if cM==1 then
for b,c in pairs(be)do
if J then
J(b,c,n[b])
else
call('SET',KEYS[b],c,'PXAT',math.floor(n[b]/1000))
end
end
if F then F.cI()end
end
y=#KEYS+1
Y[y]=v
for x=1,#aT do Y[y+x]=aT[x]end
y=y+#aT
for x=1,#ck do Y[y+x]=ck[x]end
Y[y+#ck+1]=ch
return Y
`,
    ].join(''),
}

export const leaseProgram: Program = {
  sha1: 'f3320db3f5d409b71ce53745639fdd91e6145a34',
  source: () =>
    [
      ``,
      clock,
      `local function w(M,...)
if M=='strings'then
`,
      strings,
      `elseif M=='drop'then
`,
      drop,
      `elseif M=='block-value'then
`,
      blockValue,
      `elseif M=='bucket'then
`,
      bucket,
      `elseif M=='bucket-value'then
`,
      bucketValue,
      `elseif M=='bucket-flow'then
`,
      bucketFlow,
      `elseif M=='bucket-leases'then
`,
      bucketLeases,
      `elseif M=='bucket-adopt'then
`,
      bucketAdopt,
      `end
end
local am,J,Z,remove,ac=w'strings'
local aI=w('drop',J,remove,ac)
local aH=w'bucket'
local P,O,aK,aq=aH.P,aH.O,aH.aK,aH.aq
local dL=64
local function er(o,ah)
local x=#o+1
for S,ed in ipairs(o)do
if ed[4]>ah[4]then
x=S
break
end
end
table.insert(o,x,ah)
return o
end
local function dW(b,c,u)
local h,m,q=j[u],j[u+1],j[u+2]
local dq,ae,dp,dG,ea=j[u+3],j[u+4],j[u+5],j[u+6],j[u+7]
local l,f=v,0
local e,d,s,k,o,cd
if c then
local T,N,ai
e,d,s,k,T,N,ai,f,o=aH.am(c,0)
if e and(T~=h or N~=m or ai~=q)then
e,d,s,k,o=aH.bG(e,d,s,k,T,N,ai,h,m,q,o)
cd=true
end
if e and s>v then l=s end
end
if f>v then ae=0 end
local bQ,au={},nil
local da=false
if o then
local en,em,dH=aH.aF(e,d,h,m,q,o,l)
for Z,ah in ipairs(dH or{})do
if ah[1]==dp then au=ah else bQ[#bQ+1]=ah end
end
da=au and dG<=au[2]
if not da then e,d,o,cd=en,em,dH,true end
end
local aQ=0
if not da then
local aR,dF,df=0,0,l+ea
if au then
aR=math.min(j[u+8],au[3])
dF=math.min(j[u+9],au[3]-aR)
df=math.max(df,au[4])
local cK,C=P(h,m,dF,0)
d=d-C
if d<0 then cK,d=cK+1,d+h end
local aC=aq(bQ)+aR
e,d=O(e-cK,d,h,m,q-aC,l)
if s<l then s=l end
o=bQ
end
local cz=0
if ae>=dq and(au or#bQ<dL)then
cz=q
if e then
local dV,cR=O(e,d,h,m,q,l)
cz=aK(dV,cR,h,m,l)
end
end
if cz>=dq then aQ=math.min(ae,cz)end
if aQ>0 then
local t,by=O(-math.huge,0,h,m,q,l)
if not e then
e,d,k=t,by,0
elseif e<t or(e==t and d<=by)then
e,d=t,by
if k>0 and l>=s+k then k=0 end
end
local A,C=P(h,m,aQ,d)
e,d,s=e+A,C,l
end
if aR+aQ>0 then o=er(bQ,{dp,dG,aR+aQ,df})end
cd=cd or aQ>0
end
if cd then
if o and#o==0 then o=nil end
if not e then
aI(b,f)
else
local n=aH.n(e,d,s,k,h,m,q,o or{})
if f>n then n=f end
J(b,aH.c(e,d,s,k,h,m,q,f,o),n)
end
end
return aQ
end
local Y,aQ={},{}
for x=1,#KEYS do
local c=am(x)
Y[x]=c
aQ[x]=dW(x,c,3+(x-1)*j[2])
end
local y=#KEYS+1
Y[y]=v
for x=1,#aQ do Y[y+x]=aQ[x]end
return Y
`,
    ].join(''),
}

export const saltProgram: Program = {
  sha1: 'bdbd4af9949c0df55d24cb81b8339d93480189aa',
  source: () =>
    [
      `redis.call('SET',KEYS[1],ARGV[1],'NX')
return redis.call('GET',KEYS[1])
`,
    ].join(''),
}
