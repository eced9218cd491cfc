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
local w=bH and bH[1]*1000000+bH[2]or bF
`

const state = `local dE,dC,aB,dF,ac,bK=v'strings'
local cB=ARGV[2]and ARGV[2]~=''and cjson.decode(ARGV[2])
if not cB then
return dE,dC,aB,dF,ac
end
local bJ,cO=v'packed-value'
local function by(b)
if cB[2*b]<0 then return nil end
return pack('>I4I4',cB[2*b-1],cB[2*b])
end
local function am(b)
local ao=by(b)
if not ao then return dE(b)end
local cw=redis.pcall('HMGET',KEYS[b],ao,'')
if cw.err then return false end
return cw[1]and bJ(cw[1],cw[2]or'')
end
local function eh(at,ao,e,n)
local G=redis.pcall('HGET',at,'')
if type(G)=='table'then call('DEL',at)end
if type(G)~='string'or#G<6 or(#G-6)%13>0 then G=false end
local bq,aD=cO(e,G and string.sub(G,7)or'')
local ad=G and an('>I6',G)or 0
local aP
if bF==0 and ad*1000>=n then
if#G==6+#aD then
aP=call('HSET',at,ao,bq)
else
aP=call('HSET',at,ao,bq,'',string.sub(G,1,6)..aD)
end
else
local cU=n+math.max(0,n-w)/4
aP=call('HSET',at,ao,bq,'',pack('>I6',math.max(ad,math.floor(cU/1000)))..aD)
if bF~=0 and G then
call('PEXPIREAT',at,bK(cU),'GT')
else
call('PEXPIREAT',at,bK(cU))
end
end
if aP>0 and bF==0 and w%16==0 then
v('sweep',bJ,ac)(at)
end
end
local function J(b,e,n)
local ao=by(b)
if ao then return eh(KEYS[b],ao,e,n+ac)end
dC(b,e,n)
end
local function remove(b)
local ao=by(b)
if not ao then
dF(b)
elseif type(redis.pcall('HGET',KEYS[b],ao))~='table'then
call('HDEL',KEYS[b],ao)
end
end
return am,J,aB,remove,ac,by
`

const strings = `local ac=(ARGV[3]or 0)+0
local function am(b)
local e=redis.pcall('GET',KEYS[b])
return type(e)=='string'and e
end
local function bK(n)
if bF==0 then return math.floor(n/1000)end
local l=call('TIME')
return l[1]*1000+math.ceil(math.max(0,n-w)/1000)+60000
end
local function J(b,e,n)
call('SET',KEYS[b],e,'PXAT',bK(n+ac))
end
local function aB(b,n)
call('PEXPIREAT',KEYS[b],bK(n+ac))
end
local function remove(b)
call('DEL',KEYS[b])
end
return am,J,aB,remove,ac,bK
`

const packedValue = `local function bJ(e,G)
local C=#e
if C~=13 and C~=14 then return e end
local A,t,Z,x=an('>I3I4I5B',e)
if A<6291456 or A>=10485760 or#G<6+13*x or x<1 then return e end
local h,m,q=an('>I3I5I5',G,13*x-6)
local c=0
if C==14 then c=string.byte(e,14)end
return pack('>I3I4I3I5I3I5I5',A,t,c,Z,h,m,q)
end
local function cO(e,aD)
if#e~=28 then return e,aD end
local A,t,c,Z=an('>I3I4I3I5',e)
if A<6291456 or A>=10485760 or c>255 then return e,aD end
local dA,x=string.sub(e,16),0
for u=1,#aD,13 do
if string.sub(aD,u,u+12)==dA then x=(u+12)/13 end
end
if x==0 then
if#aD>51 then return e,aD end
aD=aD..dA
x=#aD/13
end
local bq=pack('>I3I4I5B',A,t,Z,x)
if c>0 then bq=bq..string.char(c)end
return bq,aD
end
return bJ,cO
`

const sweep = `local bJ,ac=...
local aw=v'block-value'
local db=v'state-until'
return function(at)
local aZ=call('HRANDFIELD',at,128,'WITHVALUES')
local G=call('HGET',at,'')
for x=1,#aZ,2 do
local e=bJ(aZ[x+1],G)
local f=aw(e)
if aZ[x]~=''and(db(e)or 0)+ac<=w and f+ac<=w then call('HDEL',at,aZ[x])end
end
end
`

const blockValue = `local function aw(e)
local f,I=0,e
if#e>=7 then
local A,t=an('>I3I4',e)
if A>=14680064 then f,I=(A-14680064)*4294967296+t,string.sub(e,8)end
end
if string.byte(I)==1 then return 9000000000000000,''end
return f,I
end
local function aU(f)
local t=f%4294967296
return pack('>I3I4',14680064+(f-t)/4294967296,t)
end
local function bp(e,f)
if f+60000000<=w then return e end
return aU(f)..e
end
return aw,aU,bp
`

const stateUntil = `local bk=v'bucket-value'
local P,O=v'bucket-flow'
local Y,Y,bv=v('bucket-leases',P,O)
local bE,Y,aO=v'window-value'
local bD=v'counter-value'
return function(e)
local d,c,s,k,h,m,q,Y,o=bk(e,0)
if d then return bv(d,c,s,k,h,m,q,o or{})end
local i,Y,r,y=bE(e)
if i then return aO(i,r,y)end
local bc,E,Y,p=bD(e)
if bc and E>0 then return bc+p end
return bc
end
`

const bucketValue = `local aw,Y,bp=v'block-value'
local function ea(c,s,k,h,m,q)
if c>=h or s>9007199254740991 or k>3200000000000000 then return false end
if m<1 or q<1 or m>9007199254 then return false end
return h*(q/1000000+2)<=9007199254740992 and q/h*m<=3200000000000000
end
local function bk(e,f)
local C=#e
local A,t,c,Z,s,k,h,m,q
if C==12 then
A,t,Z,h,q=an('>I3I4I3BB',e)
c,k,m,q=0,0,1,q*1000000
elseif C==28 then
A,t,c,Z,h,m,q=an('>I3I4I3I5I3I5I5',e)
k=0
elseif C>=49 and(C-49)%28==0 then
A,t,c,s,k,h,m,q=an('>I3I4I7I7I7I7I7I7',e)
end
if A and A>=6291456 and A<10485760 then
local d,o=(A-8388608)*4294967296+t,nil
s=s or d+Z
if not ea(c,s,k,h,m,q)then return nil,nil,nil,nil,nil,nil,nil,0 end
for u=50,C,28 do
o=o or{}
o[#o+1]={an('>I7I7I7I7',e,u)}
end
return d,c,s,k,h,m,q,f,o
end
local de,I=aw(e)
if de==0 or f>0 then return nil,nil,nil,nil,nil,nil,nil,0 end
if I==''then return nil,nil,nil,nil,nil,nil,nil,de end
return bk(I,de)
end
local function cb(d,c,s,k,h,m,q,f,o)
local t,Z=d%4294967296,s-d
local A=8388608+(d-t)/4294967296
local e
if k>0 or o or Z<0 or Z>=1099511627776 or h>=16777216 or q>=1099511627776 then
e=pack('>I3I4I7I7I7I7I7I7',A,t,c,s,k,h,m,q)
for Y,ah in ipairs(o or{})do e=e..pack('>I7I7I7I7',ah[1],ah[2],ah[3],ah[4])end
elseif m==1 and c==0 and Z<16777216 and h<256 and q<256000000 and q%1000000==0 then
e=pack('>I3I4I3BB',A,t,Z,h,q/1000000)
else
e=pack('>I3I4I3I5I3I5I5',A,t,c,Z,h,m,q)
end
if f>0 then return bp(e,f)end
return e
end
return bk,cb
`

const bucketFlow = `local function P(h,m,aS,U)
local bm=m*1000000
local cp,du=bm%h,m%h
local aj=aS%1000000
local aN=(aS-aj)/1000000
local Q=U+aN*cp+aj*du
local B=Q%h
return aN*((bm-cp)/h)+aj*((m-du)/h)+(Q-B)/h,B
end
local function dz(h,m,dL,U,z)
local D=0
if z<=0 then return D end
local cS=(z-U/h)/(m*dL/h)*(1-2^-50)
if cS>0 then D=cS-cS%1 end
while true do
local bM,B=P(h,m,(D+1)*dL,U)
if bM>z or(bM==z and B>0)then return D end
D=D+1
end
end
local function O(d,c,h,m,aS,l)
if aS<0 then aS=0 end
local z,B=P(h,m,aS,0)
local t,bx=l-z,0
if B>0 then t,bx=t-1,h-B end
if d>t or(d==t and c>=bx)then return d,c end
return t,bx
end
local function aK(d,c,h,m,l)
local aN=dz(h,m,1000000,c,l-d)
local bM,B=P(h,m,aN*1000000,c)
d,c=d+bM,B
local aj=dz(h,m,1,c,l-d)
return aN*1000000+aj,d,c,aj
end
local function bj(h,m,aN)
local bm=m*1000000
local c=bm%h
local ci=c%131072
local bP=aN*((c-ci)/131072)
local L=bP%h
local cc=L*131072+aN*ci
local B=cc%h
return aN*((bm-c)/h)+(bP-L)/h*131072+(cc-B)/h,B
end
local function aW(h,m,q,l)
return math.min(l+3155760000000000,9007199254740990-(P(h,m,q,0)))
end
return P,O,aK,bj,aW
`

const bucketLeases = `local P,O=...
local function aq(o)
local aC=0
for Y,ah in ipairs(o)do aC=aC+ah[3]end
return aC
end
local function aF(d,c,h,m,q,o,l)
local aC,B=aq(o),{}
for Y,ah in ipairs(o)do
if ah[4]<=l and#B==0 then
d,c=O(d,c,h,m,q-aC,ah[4])
aC=aC-ah[3]
else
B[#B+1]=ah
end
end
if#B==0 then return d,c,nil end
d,c=O(d,c,h,m,q-aC,l)
return d,c,B
end
local function bv(d,c,s,k,h,m,q,o)
local aC=aq(o)
for Y,ah in ipairs(o)do
d,c=O(d,c,h,m,q-aC,ah[4])
aC=aC-ah[3]
end
local bM,B=P(h,m,q,c)
local n=d+bM
if B>0 then n=n+1 end
if k>0 and s+k>n then n=s+k end
return n
end
return aq,aF,bv
`

const windowValue = `local aw,Y,bp=v'block-value'
local function bE(e)
local f,I=0,e
if#e~=21 then f,I=aw(e)end
if#I==21 then
local A,t,D,y,p=an('>I3I4I7BI6',I)
p=y%16*281474976710656+p
if A>=10485760 and A<12582912 and p>0 then
return(A-10485760)*4294967296+t,D,p,math.floor(y/16),f
end
end
if I==e then f,I=aw(e)end
return nil,nil,nil,nil,I==''and f or 0
end
local function cr(i,D,p,y,f)
local t,co=i%4294967296,p%281474976710656
local dd=y*16+(p-co)/281474976710656
local e=pack('>I3I4I7BI6',10485760+(i-t)/4294967296,t,D,dd,co)
if f>0 then return bp(e,f)end
return e
end
local function aO(i,p,y)
if y>2 then return i+p end
return i+math.ceil(p/(y==2 and 4 or y==1 and 16 or 64))
end
return bE,cr,aO
`

const counterValue = `local aw,Y,bp=v'block-value'
local function bD(e)
local f,I=0,e
if#e~=28 then f,I=aw(e)end
if#I==28 then
local A,t,E,H,af,p=an('>I3I4I7I7BI6',I)
p=af%16*281474976710656+p
if A>=12582912 and A<14680064 and p>0 then
return(A-12582912)*4294967296+t,E,H,p,math.floor(af/16),f
end
end
if I==e then f,I=aw(e)end
return nil,nil,nil,nil,nil,I==''and f or 0
end
local function cf(i,E,H,p,af,f)
local t,co=i%4294967296,p%281474976710656
local dd=af*16+(p-co)/281474976710656
local e=pack('>I3I4I7I7BI6',12582912+(i-t)/4294967296,t,E,H,dd,co)
if f>0 then return bp(e,f)end
return e
end
return bD,cf
`

const drop = `local J,remove,ac=...
local Y,aU=v'block-value'
return function(b,f)
if f>w then return J(b,aU(f),f)end
if ac>0 then return J(b,aU(1),w)end
remove(b)
end
`

const bucketAdopt = `local P,O,aK,bj,aW,aq,aF=...
local function cJ(d,c,s,k,T,N,ai,h,m,q,o)
local l=w
if s>w then l=s end
if o then
d,c,o=aF(d,c,T,N,ai,o,l)
end
local dp,cR=P(T,N,ai,0)
local bd,dV=P(T,N,ai,c)
local f=d+bd
if dV>0 then f=f+1 end
if k>0 and s+k>f then f=s+k end
if f<=l then return nil end
local cz=dp
if cR>0 then cz=dp+1 end
d,c=O(d,c,T,N,ai,l)
local cg=0
if d>l or(d==l and c>0)then
local bm=N*1000000
local cp=bm%T
cg=math.min(9007199256,math.floor((d-l+1)/((bm-cp)/T+cp/T))+1)
local J,ei=bj(T,N,cg)
d,c=d-J,c-ei
if c<0 then d,c=d-1,c+T end
end
local aS,aj
aS,d,c,aj=aK(d,c,T,N,l)
local av=(l-d)*T-c-aj*N
local ac=0
if cg==0 and aS>=q then
aS=q
elseif av>0 then
local ci=m%131072
local bP=av*((m-ci)/131072)
local cc=(bP%N)*131072+av*ci
ac=(bP-bP%N)/N*131072+(cc-cc%N)/N
end
local z,ep=P(h,m,aS,0)
local cL=ep+ac
if k>cz then cz=k end
d,c=l-z-(cL+(-cL)%h)/h,(-cL)%h
if cg>0 then
local ef,eg=bj(h,m,cg)
d,c=d+ef,c+eg
if c>=h then d,c=d+1,c-h end
end
local bu=aW(h,m,q,l)
if d>bu or(d==bu and c>0)then d,c=bu,0 end
if o then
d,c=O(d,c,h,m,q-aq(o),l)
end
return d,c,l,cz,o
end
return cJ
`

const windowAdopt = `local aO=...
local function dn(g,l)
local r=j[g+3]
if j[g+4]==1 then return l+r end
local dJ=l-j[g+8]
return dJ-dJ%r+r+j[g+8]
end
local function bZ(i,D,p,y,g)
local r=j[g+3]
if p==r and y<5 then return i,D,p,y,false end
if w>=i then
if w>=aO(i,p,y)then return nil end
return i,D,p,y,false
end
if y==6 then
if r<=p then return i,D,p,y,false end
return i,9007199254740991,r,4,true
end
if p==r then return i,D,p,4,true end
if r<p and y>=4 then return i,D,p,y,false end
local ad=dn(g,w)
if r>p and j[g+4]==1 then
ad=i-p+r
elseif i>ad then
ad=i
end
return ad,D,math.max(p,r),4,true
end
local function ca(i,p,y,g)
local r,au=j[g+3],dn(g,w)
if not i or w>=aO(i,p,y)then return au,r,0 end
if r>p then return math.max(au,i+p),r,4 end
if r<p and y<5 then return i+p,p,5 end
if j[g+4]~=1 and au-r<i then au=au+r end
return au,r,0
end
local function cm(i,D,p,y,g)
local V,r,av=j[g+2],j[g+3],0
if y>=5 and r<p then
av=math.max(0,math.min(math.floor((w-i+p)/r),math.floor(p/r)-1))
end
local aa,ak=i-p+av*r,av*V
local K=math.max(0,D-ak)
if y==6 or y==5 and ak>9007199254740991-2*V then return aa,0,K,i-aa,6 end
return aa,ak,K,p,y
end
local function bV(y,D,V)
if y>=4 then return y end
if D*4>V then return 3 end
return D*16>V and 2 or D*64>V and 1 or 0
end
return bZ,ca,cm,bV
`

const counterAdopt = `local function bU(i,E,H,r)
if i and w<i then return i,E,H end
if not i or w>=i+r then return w-w%r+r,0,0 end
return i+r,0,E
end
local function bY(i,E,H,p,af,g)
local r=j[g+3]
if p==r then
if af==0 or w>=i then return i,E,H,p,af,false end
return i,E,H,p,0,true
end
if p>r and w<i then return i,E,H,p,af,false end
i,E,H=bU(i,E,H,p)
if p>r and af==0 then
if H==0 then return nil end
return i,E,H,p,1,true
end
i=i-p+r
if w>=i or E+H==0 then return nil end
return i,E,H,r,0,true
end
local function cn(i,H,p,g)
if H==0 then return 0 end
local bR=j[g+4]
if p~=j[g+3]then
bR=1
while p/bR>1000000 do bR=bR*10 end
end
local cG=math.floor(p/bR)
local B=math.min(cG,math.ceil((i-w)/bR))
local aN=math.floor(H/1000000)
local dB=aN*B
local cq=math.floor(dB/cG)
local c=(dB-cq*cG)*1000000+(H-aN*1000000)*B
return cq*1000000+math.ceil(c/cG)
end
return bY,bU,cn
`

const logValue = `local J,aB=...
local aw=v'block-value'
local az,as,bg,bh=47,14,64,4503599627370496
local function dv(b,f)
return{b=b,C=0,X=0,ak=0,u=0,Q=0,p=0,k=0,f=f,ax=0,cu=true}
end
local function ed(b)
local at,a=KEYS[b],dv(b,0)
local e=redis.pcall('GETRANGE',at,0,az+bg*as-1)
if type(e)~='string'then return a end
local r=#e
if r==az+bg*as then r=call('STRLEN',at)end
if r<az or string.byte(e)~=2 or(r-az)%as>0 then
local f,I=aw(e)
if I==''then a.f=f end
return a
end
local Y,f,p,k,ak,u,Q,X=an('>BI7I7I7I7I7I7I4',e)
local ax=(r-az)/as
if X>ax or p<1 then return a end
a.aL,a.cu,a.ax,a.C=true,false,ax,ax+1
a.f,a.p,a.k,a.ak,a.u,a.Q,a.X=f,p,k,ak,u,Q,X
a.cY={[0]=string.sub(e,az+1)}
return a
end
local function aJ(a,S)
if S==a.C-1 then return a.u,a.Q end
if S==a.ax then return a.dx,a.dy end
local x=S%bg
local cV=(S-x)/bg
local cF=a.cY[cV]
if not cF then
local U=az+cV*bg*as
cF=call('GETRANGE',KEYS[a.b],U,U+bg*as-1)
a.cY[cV]=cF
end
local u,Q=an('>I7I7',cF,x*as+1)
return u,Q
end
local function ar(a,S)
if S<a.X then return 0 end
local Y,Q=aJ(a,S)
return(Q-a.ak)%bh
end
local function bs(a,dZ,U)
local t,A=U,a.C
while t<A do
local bz=math.floor((t+A)/2)
if aJ(a,bz)>dZ then A=bz else t=bz+1 end
end
return t
end
local function ch(a,Q,U)
local t,A=U,a.C
while t<A do
local bz=math.floor((t+A)/2)
if ar(a,bz)>=Q then A=bz else t=bz+1 end
end
return t
end
local function dS(a,al)
local U=al.U
a.cQ,a.aL,a.p,a.k=true,true,al.p,al.k
if U==a.C then
a.cu,a.ax,a.C,a.X,a.ak,a.u,a.Q=true,0,1,0,0,al.l,al.R
return
end
if U>a.X then
local Y,ak=aJ(a,U-1)
a.ak,a.X=ak,U
end
if not al.bL then
a.dx,a.dy,a.C=a.u,a.Q,a.C+1
end
a.u,a.Q=al.l,(a.Q+al.R)%bh
end
local function dt(a,X)
return pack('>BI7I7I7I7I7I7I4',2,a.f,a.p,a.k,a.ak,a.u,a.Q,X)
end
local function ds(a)
local n=a.u+a.p
if a.k>a.p then n=a.u+a.k end
if a.f>n then n=a.f end
return n
end
local function em(a)
local n=ds(a)
local cj=a.C-1>a.ax
local aP=''
if cj and a.X<=a.ax then aP=pack('>I7I7',a.dx,a.dy)end
local X=a.X
local cq=a.cu or a.ax<=bg or X>a.C-X
if cq then X=0 end
local G=dt(a,X)
if cq then
local bi=''
if not a.cu then
if a.ax<=bg then
bi=string.sub(a.cY[0],a.X*as+1)
else
bi=call('GETRANGE',KEYS[a.b],az+a.X*as,-1)
end
end
return J(a.b,G..bi..aP,n)
end
call('SETRANGE',KEYS[a.b],0,G)
if cj then call('APPEND',KEYS[a.b],aP)end
aB(a.b,n)
end
return{
az=az,
as=as,
bh=bh,
ec=dv,
ap=ed,
aJ=aJ,
ar=ar,
bs=bs,
ch=ch,
al=dS,
G=dt,
n=ds,
cI=em,
}
`

const logAdopt = `local F=...
local bs,ar=F.bs,F.ar
local dN=10000
local function bo(a,g)
local r=j[g+3]
if not a.aL or a.p==r then return a end
local k=a.p
if a.k>k then k=a.k end
if a.u+k<=w then
return F.ec(a.b,a.f)
end
a.p,a.cQ=r,true
if k>r then a.k=k else a.k=0 end
return a
end
local function bW(a,g)
local l=w
if a.u>w then l=a.u end
local L=bs(a,l-j[g+3],a.X)
return l,L,ar(a,a.C-1)-ar(a,L-1)
end
local function ce(a,g,L,l,R)
local U,k,ae=L,a.k,j[g+4]
if k>0 then U,ae=bs(a,l-k,a.X),dN end
local aR=a.C-U
local bL=aR>0 and a.u==l
if not bL and aR>=ae then
if U<L then U=U+1 else bL=true end
end
if aR==0 then k=0 end
return{U=U,l=l,bL=bL,R=R,p=j[g+3],k=k}
end
return bo,bW,ce
`

const logRefund = `local F,aI,J,aE=...
local aJ,ar,az,as,bh=F.aJ,F.ar,F.az,F.as,F.bh
return function(a,L,bO,ba)
local B,aa,ay=ba,a.C,{}
local function dK(S)
local av=ar(a,S)-ar(a,S-1)
if av>B then av=B end
ay[S],B=av,B-av
end
if aE<0 then
while aa>L and B>0 do
aa=aa-1
dK(aa)
end
elseif aE>bO then
aa=F.bs(a,aE-1,L)
for S=aa,a.C-1 do dK(S)end
end
if B==ba then return false end
local bl,Q={},(a.ak+ar(a,aa-1))%bh
for S=aa,a.C-1 do
local c=ar(a,S)-ar(a,S-1)-(ay[S]or 0)
if c>0 then
Q=(Q+c)%bh
bl[#bl+1]={(aJ(a,S)),Q}
end
end
local ct=aa
if#bl==0 then
if aa==a.X then
aI(a.b,a.f)
return true
end
ct=aa-1
a.u,a.Q=aJ(a,ct)
else
a.u,a.Q=unpack(bl[#bl])
end
local bi=''
if ct>a.X then bi=call('GETRANGE',KEYS[a.b],az+a.X*as,az+ct*as-1)end
for S=1,#bl-1 do bi=bi..pack('>I7I7',bl[S][1],bl[S][2])end
J(a.b,F.G(a,0)..bi,F.n(a))
return true
end
`

const bucketRow = `local h,m,q=j[g+1],j[g+2],j[g+3]
local bb,aA,R,bI=j[g+4],j[g+5],j[g+6],j[g+7]
if j[g]==0 then
local aj=bb*m
bI=aj%h
R=(aj-bI)/h
aj=q*m
aA=-aj%h
bb=(aj+aA)/h
end
`

const bucket = `local am,e=v'bucket-value'
local P,O,aK,bj,aW=v'bucket-flow'
local aq,aF,n=v('bucket-leases',P,O)
local bG=v('bucket-adopt',P,O,aK,bj,aW,aq,aF)
return{
am=am,
e=e,
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

const bucketStep = `local l,f,W=w,0,0
local d,c,s,k,o,ag,bX,n
if e then
local C=#e
local A,t,Z,T,N,ai
if C==12 then
A,t,Z,T,ai=an('>I3I4I3BB',e)
c,k,N,ai=0,0,1,ai*1000000
elseif C==28 then
A,t,c,Z,T,N,ai=an('>I3I4I3I5I3I5I5',e)
k=0
end
local el=T==h and N==m and ai==q
if el and A>=6291456 and A<10485504 and c<h then
d=(A-8388608)*4294967296+t
s=d+Z
else
aX=aX or cZ(w,pack,an)
d,c,s,k,T,N,ai,f,o=aX.am(e,0)
end
if d then
if T~=h or N~=m or ai~=q then
d,c,s,k,o=aX.bG(d,c,s,k,T,N,ai,h,m,q,o)
ag=d
end
if d and s>w then l=s end
if o then
d,c,o=aX.aF(d,c,h,m,q,o,l)
end
end
end
local bO=l-bb
if not d then
d,c,k=bO,aA,0
elseif d<bO or(d==bO and c<=aA)then
d,c=bO,aA
if k>0 and l>=s+k then k=0 end
end
local ap=aM
if f>w then ap=0 end
while W<ap do
local ck,B=d+R,c+bI
if B>=h then ck,B=ck+1,B-h end
if ck>l or(ck==l and B>0)then break end
d,c,W=ck,B,W+1
end
if W>0 or ag then
n=d+bb
if c>aA then n=n+1 end
local Z,t=l-d,d%4294967296
if k>0 or f>0 or o or Z<0 or Z>=1099511627776 or h>=16777216 or q>=1099511627776 then
aX=aX or cZ(w,pack,an)
bX=aX.e(d,c,l,k,h,m,q,f,o)
if o then
n=aX.n(d,c,l,k,h,m,q,o)
elseif k>0 and l+k>n then
n=l+k
end
if f>n then n=f end
elseif m==1 and c==0 and Z<16777216 and h<256 and q<256000000 and q%1000000==0 then
bX=pack('>I3I4I3BB',8388608+(d-t)/4294967296,t,Z,h,q/1000000)
else
bX=pack('>I3I4I3I5I3I5I5',8388608+(d-t)/4294967296,t,c,Z,h,m,q)
end
end
`

const reply = `local dh,aT=0,#KEYS
local aQ={}
for b=1,aT do
ab[b]=ab[b]or''
aQ[b]=#ab[b]
end
for av=1,#br do aQ[aT+av]=br[av]end
for x=1,#aQ do
if aQ[x]>dh then dh=aQ[x]end
end
local G
if dh<256 and#aQ<=2000 then
G=string.char(1,unpack(aQ))
else
for x=1,#aQ do aQ[x]=pack('>I4',aQ[x])end
G=string.char(4)..table.concat(aQ)
end
for x=1,#bC do bC[x]=pack('>I7',bC[x])end
return G..table.concat(ab,'',1,aT)..table.concat(bC)..pack('>I7',w)
`

const window = `local bE,cr,aO=v'window-value'
local bZ,ca,cm,bV=v('window-adopt',aO)
return function(e,g,aM)
local R,V,dD=j[g+1],j[g+2],j[g+5]
local f,W=0,0
local i,D,z,y,ag
if e then
i,D,z,y,f=bE(e)
if i then i,D,z,y,ag=bZ(i,D,z,y,g)end
end
if not(i and w<i)then
i,z,y=ca(i,z,y,g)
D=0
end
local aa,ak,K,bw,bn=cm(i,D,z,y,g)
local cv,ae=w-aa,V
if dD>0 and cv<dD then
if cv<0 then cv=0 end
local cx=math.floor(cv*j[g+6]/j[g+7])
if cx<1000000 then cx=1000000 end
if cx<ae then ae=cx end
end
if f>w then aM=0 end
while W<aM and K+R<=ae do
K,W=K+R,W+1
end
if W>0 then
D,z=ak+K,bw
y=bV(bn,D,V)
elseif not ag then
return 0
end
local n=aO(i,z,y)
if f>n then n=f end
return W,cr(i,D,z,y,f),n
end
`

const counter = `local bD,cf=v'counter-value'
local bY,bU,cn=v'counter-adopt'
return function(e,g,aM)
local R,V,r=j[g+1],j[g+2],j[g+3]
local f,W,H,z,af=0,0,0,r,0
local i,E,ag
if e then
i,E,H,z,af,f=bD(e)
if i then i,E,H,z,af,ag=bY(i,E,H,z,af,g)end
end
if not(i and w<i)then
i,E,H=bU(i,E,H,r)
z,af=r,0
end
local cH=V-cn(i,H,z,g)
if f>w then aM=0 end
while W<aM and E+R<=cH do
E,W=E+R,W+1
end
if W==0 and not ag then return 0 end
local n=i
if E>0 then n=i+z end
if f>n then n=f end
return W,cf(i,E,H,z,af,f),n
end
`

const log = `local F=...
local aJ,ar,ch=F.aJ,F.ar,F.ch
local bo,bW,ce=v('log-adopt',F)
local function dm(a,g,L,ad,cl,K,R)
local S=ch(a,ar(a,L-1)+K+R-j[g+2],L)
if S<ad then cl=aJ(a,S)end
return cl+j[g+3]
end
local function cA(a,g,L,ad,cl,K)
local V=j[g+2]
local bS,bT=0,0
if V>K then bS=math.floor((V-K)/1000000)end
if K>0 then bT=cl+j[g+3]-w end
local cj=(bS+1)*1000000
if cj>V then return bS,bT,bT end
return bS,dm(a,g,L,ad,cl,K,cj)-w,bT
end
local function cP(a,g,R)
local V=j[g+2]
local l,L,K=bW(a,g)
if R>V-K then
if R>V then return 2,0,cA(a,g,L,a.C,a.u,K)end
return 1,dm(a,g,L,a.C,l,K,R)-w,cA(a,g,L,a.C,a.u,K)
end
local al=ce(a,g,L,l,R)
local ad=a.C
if al.bL then ad=ad-1 end
local bS,ek,bT=cA(a,g,L,ad,l,K+R)
return 0,0,bS,ek,bT,al
end
local function dg(a,g)
local Y,L,K=bW(a,g)
return cA(a,g,L,a.C,a.u,K)
end
return bo,cP,dg
`

export const adjustProgram: Program = {
  sha1: '72050e512a162008d0eade314e771a5216675e11',
  source: () =>
    [
      ``,
      clock,
      `local function v(M,...)
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
local am,J,aB,remove,ac=v'state'
local aI=v('drop',J,remove,ac)
local cs=9000000000000000
local function dj(b,g,aY)
local bk,cb=v'bucket-value'
local P,O,aK,bj,aW=v'bucket-flow'
local aq,aF,bv=v('bucket-leases',P,O)
`,
      bucketRow,
      `local l,f=w,0
local e=am(b)
local d,c,s,k,o,ag
if e then
local T,N,ai
d,c,s,k,T,N,ai,f,o=bk(e,0)
if f==cs then return true end
if d and(T~=h or N~=m or ai~=q)then
local cJ=v('bucket-adopt',P,O,aK,bj,aW,aq,aF)
d,c,s,k,o=cJ(d,c,s,k,T,N,ai,h,m,q,o)
ag=true
end
if d and s>w then l=s end
end
if aY>0 and aE>=0 and aE<=l-bb then
if not ag then return end
if not d then return aI(b,f)end
else
if o then d,c,o=aF(d,c,h,m,q,o,l)end
local t=l-bb
if not d then
d,c,k=t,aA,0
elseif d<t or(d==t and c<=aA)then
d,c=t,aA
if k>0 and l>=s+k then k=0 end
end
local ae,bA=l+bb,0
if aA>0 then ae,bA=ae-1,h-aA end
local bu=aW(h,m,q,l)
if ae>bu or(ae==bu and bA>0)then ae,bA=bu,0 end
if d>ae or(d==ae and c>bA)then ae,bA=d,c end
local Q=c-aY*bI
local B=Q%h
d,c,s=d-aY*R+(Q-B)/h,B,l
if aY<0 and(d>ae or(d==ae and c>bA))then d,c=ae,bA end
if o then d,c=O(d,c,h,m,q-aq(o),l)end
end
local n=d+bb
if c>aA then n=n+1 end
if k>0 and s+k>n then n=s+k end
if o then
n=bv(d,c,s,k,h,m,q,o)
elseif n<=l then
return aI(b,f)
end
if f>n then n=f end
J(b,cb(d,c,s,k,h,m,q,f,o),n)
end
local function dQ(b,g,aY)
local bE,cr,aO=v'window-value'
local bZ,ca,cm,bV=v('window-adopt',aO)
local ba,V=j[g+1],j[g+2]
local f=0
local e=am(b)
local i,D,z,y,ag
if e then
local aL
i,D,z,y,f=bE(e)
if f==cs then return true end
aL=i
if i then i,D,z,y,ag=bZ(i,D,z,y,g)end
if aL and not i then aI(b,f)end
end
local ad,bw,bn,ay=i,z,y,D
if not(i and w<i)then
ad,bw,bn=ca(i,z,y,g)
ay=0
end
local aa,ak,K
aa,ak,K,bw,bn=cm(ad,ay,bw,bn,g)
if aY>0 then
if K>0 and not(aE>=0 and aE<aa)then
ay,ag=ak+K-math.min(ba,K),true
if ay==0 and bn<4 then return aI(b,f)end
i,D,z,y=ad,ay,bw,bV(bn,ay,V)
end
elseif K<2*V then
ay,ag=ak+math.min(2*V,K+ba),true
i,D,z,y=ad,ay,bw,bV(bn,ay,V)
end
if not ag then return end
J(b,cr(i,D,z,y,f),math.max(aO(i,z,y),f))
end
local function dO(b,g,aY)
local bD,cf=v'counter-value'
local bY,bU,cn=v'counter-adopt'
local ba,V,r=j[g+1],j[g+2],j[g+3]
local f=0
local e=am(b)
local i,E,H,z,af,ag
if e then
local aL
i,E,H,z,af,f=bD(e)
if f==cs then return true end
aL=i
if i then i,E,H,z,af,ag=bY(i,E,H,z,af,g)end
if aL and not i then aI(b,f)end
end
local aR=i and w<i
local bc,cC,cD=bU(i,E,H,r)
if not aR then z,af=r,0 end
if aY<0 then
local cH=2*V-cC-cn(bc,cD,z,g)
if cH>0 then
i,E,H,ag=bc,cC+math.min(cH,ba),cD,true
end
elseif not(aE>=0 and aE<bc-2*z)then
local aa=bc-z
local cE,cW=math.min(cC,ba),0
if aE>=0 and aE<aa then cE=0 end
if aE<aa then cW=math.min(cD,ba-cE)end
if cE+cW>0 then
i,E,H,ag=bc,cC-cE,cD-cW,true
if E+H==0 then return aI(b,f)end
end
end
if not ag then return end
local n=i
if E>0 then n=i+z end
J(b,cf(i,E,H,z,af,f),math.max(n,f))
end
local function dP(b,g,aY)
local F=v('log-value',J,aB)
local bo,bW,ce=v('log-adopt',F)
local ax=F.ap(b)
if ax.f==cs then return true end
local a=bo(ax,g)
if ax.aL and not a.aL then aI(b,a.f)end
local l,L,K=bW(a,g)
if aY>0 then
local ej=v('log-refund',F,aI,J,aE)
if ej(a,L,l-j[g+3],j[g+1])then return end
else
local aP=math.min(j[g+1],2*j[g+2]-K)
if aP>0 then F.al(a,ce(a,g,L,l,aP))end
end
if a.cQ then F.cI(a)end
end
local aV={[0]=dj,dQ,dO,dP,dj}
local bB={}
for x=1,j[3]do
local g=j[2+2*x]
if aV[j[g]](x,g,j[3+2*x])then bB[#bB+1]=x end
end
return bB
`,
    ].join(''),
}

export const blockProgram: Program = {
  sha1: 'a9df33f69dff8906d7dd9f1ac6568d73aea9abfb',
  source: () =>
    [
      ``,
      clock,
      `local function v(M,...)
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
local am,J,aB,remove,Y,by=v'state'
local aw,aU=v'block-value'
local db=v'state-until'
local function er(e)
local bk,cb=v'bucket-value'
local P,O=v'bucket-flow'
local aq,aF,bv=v('bucket-leases',P,O)
local d,c,s,k,h,m,q,Y,o=bk(e,0)
if not o then return nil,''end
local l=w
if s>w then l=s end
d,c,o=aF(d,c,h,m,q,o,l)
if not o then return nil,''end
d,c=O(-math.huge,0,h,m,q-aq(o),l)
e=cb(d,c,l,k,h,m,q,0,o)
return bv(d,c,l,k,h,m,q,o),e
end
local r=j[2]
local bB={}
local function dR(b)
local F=v('log-value',J,aB)
local a=F.ap(b)
if r<0 or not a.aL then return a.f,''end
a.f=0
if r>0 then a.f=w+r end
call('SETRANGE',KEYS[b],0,F.G(a,a.X))
aB(b,F.n(a))
end
for b=1,#KEYS do
local ao,e=by and by(b),nil
if ao then e=am(b)else e=redis.pcall('GETRANGE',KEYS[b],0,2047)end
if type(e)~='string'then e=''end
local f,I,n=0,e,nil
if string.byte(e)==2 then
f,I=dR(b)
elseif e~=''then
f,I=aw(e)
n=db(e)
if f==9000000000000000 then
f=0
if r>=0 then bB[#bB+1],I=b,nil end
elseif not n and I~=''then
f,I=0,''
end
end
if I then
if r<0 then
n,I=er(I)
elseif r>0 then
f=w+r
else
f=0
end
if f>0 then
if I~=''then
J(b,aU(f)..I,math.max(f,n))
elseif f>w then
J(b,aU(f),f)
elseif ao then
call('HSET',KEYS[b],ao,aU(f))
else
call('SET',KEYS[b],aU(f),'KEEPTTL')
end
elseif I~=''then
J(b,I,n)
elseif e~=''or r<0 then
remove(b)
end
end
end
return bB
`,
    ].join(''),
}

export const bucketsProgram: Program = {
  sha1: 'de64f492d4ffd35282e020dac9603a9ea20525ed',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,an,format=struct.pack,struct.unpack,string.format
local bH=call('TIME')
local w=bH[1]*1000000+bH[2]
local aX
local function cZ(w,pack,an)
local function v(M,...)
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
return v'bucket'
end
local h,m,q=ARGV[1]+0,ARGV[2]+0,ARGV[3]+0
local aj=ARGV[4]*m
local bI=aj%h
local R=(aj-bI)/h
aj=q*m
local aA=-aj%h
local bb=(aj+aA)/h
local aT,dT,ac=#KEYS,#ARGV>5,ARGV[5]+0
local ab={}
if aT==1 then
ab=call('MGET',KEYS[1])
elseif aT>1 then
ab=call('MGET',unpack(KEYS))
end
local br,bC,aM={},{},1
for b=1,aT do
local e=ab[b]
if dT then aM=ARGV[5+b]+0 end
`,
      bucketStep,
      `if bX then call('SET',KEYS[b],bX,'PXAT',format('%d',(n+ac)/1000))end
br[b]=W
end
`,
      reply,
    ].join(''),
}

export const consumeProgram: Program = {
  sha1: 'd1ae97c3feff8b67b1edc4dc4f356ecc53b8c47a',
  source: () =>
    [
      ``,
      clock,
      `local function v(M,...)
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
aV[1]=v'window'
elseif dc==2 then
aV[2]=v'counter'
else
local aX
local function cZ()
return v'bucket'
end
local function aH(e,g,aM)
`,
      bucketRow,
      bucketStep,
      `return W,bX,n
end
aV[0],aV[4]=aH,aH
end
return aV[dc]
end
local be=j[3]
local am,J,aB
if ARGV[2]or bF~=0 or be<#KEYS or be>4000 then am,J,aB=v'state'end
local ab={}
if ARGV[2]and ARGV[2]~=''then
for b=1,be do ab[b]=am(b)end
elseif be>0 then
ab=call('MGET',unpack(KEYS,1,math.min(be,4000)))
for b=4001,be do ab[b]=am(b)end
end
local bd,n={},{}
local bf,C={},0
local cN,cM={},j[2]%2
for x=5+j[4]-(j[2]-cM)/2,4+j[4]do cN[j[x]]=true end
local br={}
local function di(u,aG,G,s)
for x=u,u+2*aG-2,2 do
local b,g=j[x],j[x+1]
if j[g]==3 then
bf[G+3],bf[G+4],bf[G+5]=F.eq(s[b],g)
G=G+5
end
end
end
local function dY(u,aG)
local ap=true
local aT,f,s,ay,dk={},{},{},{},{}
local G=C
for x=u,u+2*aG-2,2 do
local b,g=j[x],j[x+1]
if j[g]==3 then
if not s[b]then s[b]=F.bG(F.dw(b),g)end
local a,R=s[b],(ay[b]or 0)+j[g+1]
ay[b]=R
local cX
cX,bf[C+2],bf[C+3],bf[C+4],bf[C+5],dk[b]=F.dU(a,g,R)
bf[C+1]=cX
C=C+5
if cX>0 or a.f>w then ap=false end
elseif ap then
local W,e,bN=(aV[j[g]]or cT(j[g]))(aT[b]or bd[b]or ab[b],g,1)
if W==0 then ap=false else aT[b],f[b]=e,bN end
end
end
if ap then
for x=u,u+2*aG-2,2 do
if cN[j[x]]and not ab[j[x]]then return 0 end
end
if cM==0 then di(u,aG,G,s)end
for b,e in pairs(aT)do bd[b],n[b]=e,f[b]end
for b,al in pairs(dk)do F.al(b,s[b],al)end
return 1
end
di(u,aG,G,s)
for x=u,u+2*aG-2,2 do
local b,g=j[x],j[x+1]
if j[g]~=3 then
local Y,e,bN=(aV[j[g]]or cT(j[g]))(bd[b]or ab[b],g,0)
if e then bd[b],n[b]=e,bN end
end
end
return 0
end
if be<#KEYS then
local aZ,ap=v('log-value',J,aB),{}
local bo,cP,dg=v('log',aZ)
F={
dw=function(b)
if not ap[b]then ap[b]=aZ.ap(b)end
return ap[b]
end,
bG=bo,
dU=cP,
eq=dg,
al=function(b,a,al)
ap[b]=a
aZ.al(a,al)
end,
cI=function()
for Y,a in pairs(ap)do
if a.cQ then aZ.cI(a)end
end
end,
}
for b=be+1,#KEYS do
local a=F.dw(b)
ab[b]=(a.aL or a.f>0)and a.f
end
end
local u,ad=5+j[4],#j
while u<=ad do
local aG=j[u]
local L,dl,g,aM=1,1,0,1
if aG==0 then g,L,dl,aM=j[u+1],j[u+2],j[u+3],j[u+4]end
for b=L,dl do
local W,e,bN
if aG==0 then
W,e,bN=(aV[j[g]]or cT(j[g]))(bd[b]or ab[b],g,aM)
if cN[b]and not ab[b]then
W=0
elseif e then
bd[b],n[b]=e,bN
end
else
W=dY(u+1,aG)
end
br[#br+1]=W
end
u=u+5
if aG>0 then u=u-4+2*aG end
end
if cM==1 then
for b,e in pairs(bd)do
if J then
J(b,e,n[b])
else
call('SET',KEYS[b],e,'PXAT',math.floor(n[b]/1000))
end
end
if F then F.cI()end
end
for b=be+1,#KEYS do ab[b]=ab[b]and pack('>I7',ab[b])end
local bC=bf
`,
      reply,
    ].join(''),
}

export const leaseProgram: Program = {
  sha1: 'e853c75a0d55fb7721278facc8210d559214068e',
  source: () =>
    [
      ``,
      clock,
      `local function v(M,...)
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
local am,J,Y,remove,ac=v'strings'
local aI=v('drop',J,remove,ac)
local aH=v'bucket'
local P,O,aK,aq=aH.P,aH.O,aH.aK,aH.aq
local dM=64
local function es(o,ah)
local x=#o+1
for S,ee in ipairs(o)do
if ee[4]>ah[4]then
x=S
break
end
end
table.insert(o,x,ah)
return o
end
local function dX(b,e,u)
local h,m,q=j[u],j[u+1],j[u+2]
local dr,ae,dq,dH,eb=j[u+3],j[u+4],j[u+5],j[u+6],j[u+7]
local l,f=w,0
local d,c,s,k,o,cd
if e then
local T,N,ai
d,c,s,k,T,N,ai,f,o=aH.am(e,0)
if d and(T~=h or N~=m or ai~=q)then
d,c,s,k,o=aH.bG(d,c,s,k,T,N,ai,h,m,q,o)
cd=true
end
if d and s>w then l=s end
end
if f>w then ae=0 end
local bQ,au={},nil
local da=false
if o then
local eo,en,dI=aH.aF(d,c,h,m,q,o,l)
for Y,ah in ipairs(dI or{})do
if ah[1]==dq then au=ah else bQ[#bQ+1]=ah end
end
da=au and dH<=au[2]
if not da then d,c,o,cd=eo,en,dI,true end
end
local bt=0
if not da then
local aR,dG,df=0,0,l+eb
if au then
aR=math.min(j[u+8],au[3])
dG=math.min(j[u+9],au[3]-aR)
df=math.max(df,au[4])
local cK,B=P(h,m,dG,0)
c=c-B
if c<0 then cK,c=cK+1,c+h end
local aC=aq(bQ)+aR
d,c=O(d-cK,c,h,m,q-aC,l)
if s<l then s=l end
o=bQ
end
local cy=0
if ae>=dr and(au or#bQ<dM)then
cy=q
if d then
local dW,cR=O(d,c,h,m,q,l)
cy=aK(dW,cR,h,m,l)
end
end
if cy>=dr then bt=math.min(ae,cy)end
if bt>0 then
local t,bx=O(-math.huge,0,h,m,q,l)
if not d then
d,c,k=t,bx,0
elseif d<t or(d==t and c<=bx)then
d,c=t,bx
if k>0 and l>=s+k then k=0 end
end
local z,B=P(h,m,bt,c)
d,c,s=d+z,B,l
end
if aR+bt>0 then o=es(bQ,{dq,dH,aR+bt,df})end
cd=cd or bt>0
end
if cd then
if o and#o==0 then o=nil end
if not d then
aI(b,f)
else
local n=aH.n(d,c,s,k,h,m,q,o or{})
if f>n then n=f end
J(b,aH.e(d,c,s,k,h,m,q,f,o),n)
end
end
return bt
end
local ab,bC,br={},{},{}
for x=1,#KEYS do
ab[x]=am(x)
bC[x]=dX(x,ab[x],3+(x-1)*j[2])
end
`,
      reply,
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
