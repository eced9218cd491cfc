// Made from the programs beside this file by `npm run generate`; edit those, not this.

/** A program: its digest, and its text, which is put together only for a server that does not know it. */
export interface Program {
  readonly sha1: string
  readonly source: () => string
}

const clock = `local call,KEYS=redis.call,KEYS
local pack,an=struct.pack,struct.unpack
local j=cjson.decode(ARGV[1])
local bG=j[1]
local bI=bG==0 and call('TIME')
local w=bI and bI[1]*1000000+bI[2]or bG
`

const state = `local dE,dC,aD,dF,Z,bL=v'strings'
local cB=ARGV[2]and ARGV[2]~=''and cjson.decode(ARGV[2])
if not cB then
return dE,dC,aD,dF,Z
end
local bK,cO=v'packed-value'
local function bz(b)
if cB[2*b]<0 then return nil end
return pack('>I4I4',cB[2*b-1],cB[2*b])
end
local function af(b)
local ap=bz(b)
if not ap then return dE(b)end
local aV=redis.pcall('HMGET',KEYS[b],ap,'')
if aV.err then return false end
return aV[1]and bK(aV[1],aV[2]or'')
end
local function ei(av,ap,c,m)
local H=redis.pcall('HGET',av,'')
if type(H)=='table'then call('DEL',av)end
if type(H)~='string'or#H<6 or(#H-6)%13>0 then H=false end
local br,aF=cO(c,H and string.sub(H,7)or'')
local ad=H and an('>I6',H)or 0
local aQ
if bG==0 and ad*1000>=m then
if#H==6+#aF then
aQ=call('HSET',av,ap,br)
else
aQ=call('HSET',av,ap,br,'',string.sub(H,1,6)..aF)
end
else
local cU=m+math.max(0,m-w)/4
aQ=call('HSET',av,ap,br,'',pack('>I6',math.max(ad,math.floor(cU/1000)))..aF)
if bG~=0 and H then
call('PEXPIREAT',av,bL(cU),'GT')
else
call('PEXPIREAT',av,bL(cU))
end
end
if aQ>0 and bG==0 and w%16==0 then
v('sweep',bK,Z)(av)
end
end
local function J(b,c,m)
local ap=bz(b)
if ap then return ei(KEYS[b],ap,c,m+Z)end
dC(b,c,m)
end
local function remove(b)
local ap=bz(b)
if not ap then
dF(b)
elseif type(redis.pcall('HGET',KEYS[b],ap))~='table'then
call('HDEL',KEYS[b],ap)
end
end
return af,J,aD,remove,Z,bz
`

const strings = `local Z=(ARGV[3]or 0)+0
local function af(b)
local c=redis.pcall('GET',KEYS[b])
return type(c)=='string'and c
end
local function bL(m)
if bG==0 then return math.floor(m/1000)end
local l=call('TIME')
return l[1]*1000+math.ceil(math.max(0,m-w)/1000)+60000
end
local function J(b,c,m)
call('SET',KEYS[b],c,'PXAT',bL(m+Z))
end
local function aD(b,m)
call('PEXPIREAT',KEYS[b],bL(m+Z))
end
local function remove(b)
call('DEL',KEYS[b])
end
return af,J,aD,remove,Z,bL
`

const packedValue = `local function bK(c,H)
local C=#c
if C~=13 and C~=14 then return c end
local A,t,aa,x=an('>I3I4I5B',c)
if A<6291456 or A>=10485760 or#H<6+13*x or x<1 then return c end
local h,n,q=an('>I3I5I5',H,13*x-6)
local d=0
if C==14 then d=string.byte(c,14)end
return pack('>I3I4I3I5I3I5I5',A,t,d,aa,h,n,q)
end
local function cO(c,aF)
if#c~=28 then return c,aF end
local A,t,d,aa=an('>I3I4I3I5',c)
if A<6291456 or A>=10485760 or d>255 then return c,aF end
local dA,x=string.sub(c,16),0
for u=1,#aF,13 do
if string.sub(aF,u,u+12)==dA then x=(u+12)/13 end
end
if x==0 then
if#aF>51 then return c,aF end
aF=aF..dA
x=#aF/13
end
local br=pack('>I3I4I5B',A,t,aa,x)
if d>0 then br=br..string.char(d)end
return br,aF
end
return bK,cO
`

const sweep = `local bK,Z=...
local as=v'block-value'
local db=v'state-until'
return function(av)
local ba=call('HRANDFIELD',av,128,'WITHVALUES')
local H=call('HGET',av,'')
for x=1,#ba,2 do
local c=bK(ba[x+1],H)
local f=as(c)
if ba[x]~=''and(db(c)or 0)+Z<=w and f+Z<=w then call('HDEL',av,ba[x])end
end
end
`

const blockValue = `local function as(c)
local f,F=0,c
if#c>=7 then
local A,t=an('>I3I4',c)
if A>=14680064 then f,F=(A-14680064)*4294967296+t,string.sub(c,8)end
end
if string.byte(F)==1 then return 9000000000000000,''end
return f,F
end
local function aU(f)
local t=f%4294967296
return pack('>I3I4',14680064+(f-t)/4294967296,t)
end
local function bc(c,f)
if f+60000000<=w then return c end
return aU(f)..c
end
return as,aU,bc
`

const stateUntil = `local as=v'block-value'
local bm=v'bucket-value'
local Q,P=v'bucket-flow'
local O,O,bw=v('bucket-leases',Q,P)
local bF,O,aP=v'window-value'
local bE=v'counter-value'
return function(c)
local e,d,s,k,h,n,q,O,o=bm(c,0)
if e then return bw(e,d,s,k,h,n,q,o or{})end
local i,O,r,y=bF(c)
if i then return aP(i,r,y)end
local be,E,O,p=bE(c)
if be and E>0 then return be+p end
local O,F=as(c)
if string.byte(F)==3 then return(an('>I7',F,2))end
return be
end
`

const bucketValue = `local as,O,bc=v'block-value'
local function eb(d,s,k,h,n,q)
if d>=h or s>9007199254740991 or k>3200000000000000 then return false end
if n<1 or q<1 or n>9007199254 then return false end
return h*(q/1000000+2)<=9007199254740992 and q/h*n<=3200000000000000
end
local function bm(c,f)
local C=#c
local A,t,d,aa,s,k,h,n,q
if C==12 then
A,t,aa,h,q=an('>I3I4I3BB',c)
d,k,n,q=0,0,1,q*1000000
elseif C==28 then
A,t,d,aa,h,n,q=an('>I3I4I3I5I3I5I5',c)
k=0
elseif C>=49 and(C-49)%28==0 then
A,t,d,s,k,h,n,q=an('>I3I4I7I7I7I7I7I7',c)
end
if A and A>=6291456 and A<10485760 then
local e,o=(A-8388608)*4294967296+t,nil
s=s or e+aa
if not eb(d,s,k,h,n,q)then return nil,nil,nil,nil,nil,nil,nil,0 end
for u=50,C,28 do
o=o or{}
o[#o+1]={an('>I7I7I7I7',c,u)}
end
return e,d,s,k,h,n,q,f,o
end
local de,F=as(c)
if de==0 or f>0 then return nil,nil,nil,nil,nil,nil,nil,0 end
if F==''then return nil,nil,nil,nil,nil,nil,nil,de end
return bm(F,de)
end
local function cc(e,d,s,k,h,n,q,f,o)
local t,aa=e%4294967296,s-e
local A=8388608+(e-t)/4294967296
local c
if k>0 or o or aa<0 or aa>=1099511627776 or h>=16777216 or q>=1099511627776 then
c=pack('>I3I4I7I7I7I7I7I7',A,t,d,s,k,h,n,q)
for O,ai in ipairs(o or{})do c=c..pack('>I7I7I7I7',ai[1],ai[2],ai[3],ai[4])end
elseif n==1 and d==0 and aa<16777216 and h<256 and q<256000000 and q%1000000==0 then
c=pack('>I3I4I3BB',A,t,aa,h,q/1000000)
else
c=pack('>I3I4I3I5I3I5I5',A,t,d,aa,h,n,q)
end
if f>0 then return bc(c,f)end
return c
end
return bm,cc
`

const bucketFlow = `local function Q(h,n,aT,V)
local bo=n*1000000
local cq,du=bo%h,n%h
local ak=aT%1000000
local aO=(aT-ak)/1000000
local R=V+aO*cq+ak*du
local B=R%h
return aO*((bo-cq)/h)+ak*((n-du)/h)+(R-B)/h,B
end
local function dz(h,n,dL,V,z)
local D=0
if z<=0 then return D end
local cS=(z-V/h)/(n*dL/h)*(1-2^-50)
if cS>0 then D=cS-cS%1 end
while true do
local bN,B=Q(h,n,(D+1)*dL,V)
if bN>z or(bN==z and B>0)then return D end
D=D+1
end
end
local function P(e,d,h,n,aT,l)
if aT<0 then aT=0 end
local z,B=Q(h,n,aT,0)
local t,by=l-z,0
if B>0 then t,by=t-1,h-B end
if e>t or(e==t and d>=by)then return e,d end
return t,by
end
local function aL(e,d,h,n,l)
local aO=dz(h,n,1000000,d,l-e)
local bN,B=Q(h,n,aO*1000000,d)
e,d=e+bN,B
local ak=dz(h,n,1,d,l-e)
return aO*1000000+ak,e,d,ak
end
local function bl(h,n,aO)
local bo=n*1000000
local d=bo%h
local cj=d%131072
local bQ=aO*((d-cj)/131072)
local L=bQ%h
local cd=L*131072+aO*cj
local B=cd%h
return aO*((bo-d)/h)+(bQ-L)/h*131072+(cd-B)/h,B
end
local function aX(h,n,q,l)
return math.min(l+3155760000000000,9007199254740990-(Q(h,n,q,0)))
end
return Q,P,aL,bl,aX
`

const bucketLeases = `local Q,P=...
local function ar(o)
local aE=0
for O,ai in ipairs(o)do aE=aE+ai[3]end
return aE
end
local function aH(e,d,h,n,q,o,l)
local aE,B=ar(o),{}
for O,ai in ipairs(o)do
if ai[4]<=l and#B==0 then
e,d=P(e,d,h,n,q-aE,ai[4])
aE=aE-ai[3]
else
B[#B+1]=ai
end
end
if#B==0 then return e,d,nil end
e,d=P(e,d,h,n,q-aE,l)
return e,d,B
end
local function bw(e,d,s,k,h,n,q,o)
local aE=ar(o)
for O,ai in ipairs(o)do
e,d=P(e,d,h,n,q-aE,ai[4])
aE=aE-ai[3]
end
local bN,B=Q(h,n,q,d)
local m=e+bN
if B>0 then m=m+1 end
if k>0 and s+k>m then m=s+k end
return m
end
return ar,aH,bw
`

const windowValue = `local as,O,bc=v'block-value'
local function bF(c)
local f,F=0,c
if#c~=21 then f,F=as(c)end
if#F==21 then
local A,t,D,y,p=an('>I3I4I7BI6',F)
p=y%16*281474976710656+p
if A>=10485760 and A<12582912 and p>0 then
return(A-10485760)*4294967296+t,D,p,math.floor(y/16),f
end
end
if F==c then f,F=as(c)end
return nil,nil,nil,nil,F==''and f or 0
end
local function cs(i,D,p,y,f)
local t,cp=i%4294967296,p%281474976710656
local dd=y*16+(p-cp)/281474976710656
local c=pack('>I3I4I7BI6',10485760+(i-t)/4294967296,t,D,dd,cp)
if f>0 then return bc(c,f)end
return c
end
local function aP(i,p,y)
if y>2 then return i+p end
return i+math.ceil(p/(y==2 and 4 or y==1 and 16 or 64))
end
return bF,cs,aP
`

const counterValue = `local as,O,bc=v'block-value'
local function bE(c)
local f,F=0,c
if#c~=28 then f,F=as(c)end
if#F==28 then
local A,t,E,I,ag,p=an('>I3I4I7I7BI6',F)
p=ag%16*281474976710656+p
if A>=12582912 and A<14680064 and p>0 then
return(A-12582912)*4294967296+t,E,I,p,math.floor(ag/16),f
end
end
if F==c then f,F=as(c)end
return nil,nil,nil,nil,nil,F==''and f or 0
end
local function cg(i,E,I,p,ag,f)
local t,cp=i%4294967296,p%281474976710656
local dd=ag*16+(p-cp)/281474976710656
local c=pack('>I3I4I7I7BI6',12582912+(i-t)/4294967296,t,E,I,dd,cp)
if f>0 then return bc(c,f)end
return c
end
return bE,cg
`

const drop = `local J,remove,Z=...
local O,aU=v'block-value'
return function(b,f)
if f>w then return J(b,aU(f),f)end
if Z>0 then return J(b,aU(1),w)end
remove(b)
end
`

const bucketAdopt = `local Q,P,aL,bl,aX,ar,aH=...
local function cJ(e,d,s,k,U,N,aj,h,n,q,o)
local l=w
if s>w then l=s end
if o then
e,d,o=aH(e,d,U,N,aj,o,l)
end
local dp,cR=Q(U,N,aj,0)
local bf,dW=Q(U,N,aj,d)
local f=e+bf
if dW>0 then f=f+1 end
if k>0 and s+k>f then f=s+k end
if f<=l then return nil end
local cz=dp
if cR>0 then cz=dp+1 end
e,d=P(e,d,U,N,aj,l)
local ch=0
if e>l or(e==l and d>0)then
local bo=N*1000000
local cq=bo%U
ch=math.min(9007199256,math.floor((e-l+1)/((bo-cq)/U+cq/U))+1)
local J,ej=bl(U,N,ch)
e,d=e-J,d-ej
if d<0 then e,d=e-1,d+U end
end
local aT,ak
aT,e,d,ak=aL(e,d,U,N,l)
local ax=(l-e)*U-d-ak*N
local Z=0
if ch==0 and aT>=q then
aT=q
elseif ax>0 then
local cj=n%131072
local bQ=ax*((n-cj)/131072)
local cd=(bQ%N)*131072+ax*cj
Z=(bQ-bQ%N)/N*131072+(cd-cd%N)/N
end
local z,eq=Q(h,n,aT,0)
local cL=eq+Z
if k>cz then cz=k end
e,d=l-z-(cL+(-cL)%h)/h,(-cL)%h
if ch>0 then
local eg,eh=bl(h,n,ch)
e,d=e+eg,d+eh
if d>=h then e,d=e+1,d-h end
end
local bv=aX(h,n,q,l)
if e>bv or(e==bv and d>0)then e,d=bv,0 end
if o then
e,d=P(e,d,h,n,q-ar(o),l)
end
return e,d,l,cz,o
end
return cJ
`

const windowAdopt = `local aP=...
local function dn(g,l)
local r=j[g+3]
if j[g+4]==1 then return l+r end
local dJ=l-j[g+8]
return dJ-dJ%r+r+j[g+8]
end
local function ca(i,D,p,y,g)
local r=j[g+3]
if p==r and y<5 then return i,D,p,y,false end
if w>=i then
if w>=aP(i,p,y)then return nil end
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
local function cb(i,p,y,g)
local r,aw=j[g+3],dn(g,w)
if not i or w>=aP(i,p,y)then return aw,r,0 end
if r>p then return math.max(aw,i+p),r,4 end
if r<p and y<5 then return i+p,p,5 end
if j[g+4]~=1 and aw-r<i then aw=aw+r end
return aw,r,0
end
local function cn(i,D,p,y,g)
local W,r,ax=j[g+2],j[g+3],0
if y>=5 and r<p then
ax=math.max(0,math.min(math.floor((w-i+p)/r),math.floor(p/r)-1))
end
local ab,al=i-p+ax*r,ax*W
local K=math.max(0,D-al)
if y==6 or y==5 and al>9007199254740991-2*W then return ab,0,K,i-ab,6 end
return ab,al,K,p,y
end
local function bW(y,D,W)
if y>=4 then return y end
if D*4>W then return 3 end
return D*16>W and 2 or D*64>W and 1 or 0
end
return ca,cb,cn,bW
`

const counterAdopt = `local function bV(i,E,I,r)
if i and w<i then return i,E,I end
if not i or w>=i+r then return w-w%r+r,0,0 end
return i+r,0,E
end
local function bZ(i,E,I,p,ag,g)
local r=j[g+3]
if p==r then
if ag==0 or w>=i then return i,E,I,p,ag,false end
return i,E,I,p,0,true
end
if p>r and w<i then return i,E,I,p,ag,false end
i,E,I=bV(i,E,I,p)
if p>r and ag==0 then
if I==0 then return nil end
return i,E,I,p,1,true
end
i=i-p+r
if w>=i or E+I==0 then return nil end
return i,E,I,r,0,true
end
local function co(i,I,p,g)
if I==0 then return 0 end
local bS=j[g+4]
if p~=j[g+3]then
bS=1
while p/bS>1000000 do bS=bS*10 end
end
local cG=math.floor(p/bS)
local B=math.min(cG,math.ceil((i-w)/bS))
local aO=math.floor(I/1000000)
local dB=aO*B
local cr=math.floor(dB/cG)
local d=(dB-cr*cG)*1000000+(I-aO*1000000)*B
return cr*1000000+math.ceil(d/cG)
end
return bZ,bV,co
`

const logValue = `local J,aD=...
local as=v'block-value'
local aA,au,bi,bj=47,14,64,4503599627370496
local function dv(b,f)
return{b=b,C=0,Y=0,al=0,u=0,R=0,p=0,k=0,f=f,ay=0,cv=true}
end
local function ee(b)
local av,a=KEYS[b],dv(b,0)
local c=redis.pcall('GETRANGE',av,0,aA+bi*au-1)
if type(c)~='string'then return a end
local r=#c
if r==aA+bi*au then r=call('STRLEN',av)end
if r<aA or string.byte(c)~=2 or(r-aA)%au>0 then
local f,F=as(c)
if F==''then a.f=f end
return a
end
local O,f,p,k,al,u,R,Y=an('>BI7I7I7I7I7I7I4',c)
local ay=(r-aA)/au
if Y>ay or p<1 then return a end
a.aM,a.cv,a.ay,a.C=true,false,ay,ay+1
a.f,a.p,a.k,a.al,a.u,a.R,a.Y=f,p,k,al,u,R,Y
a.cY={[0]=string.sub(c,aA+1)}
return a
end
local function aK(a,T)
if T==a.C-1 then return a.u,a.R end
if T==a.ay then return a.dx,a.dy end
local x=T%bi
local cV=(T-x)/bi
local cF=a.cY[cV]
if not cF then
local V=aA+cV*bi*au
cF=call('GETRANGE',KEYS[a.b],V,V+bi*au-1)
a.cY[cV]=cF
end
local u,R=an('>I7I7',cF,x*au+1)
return u,R
end
local function at(a,T)
if T<a.Y then return 0 end
local O,R=aK(a,T)
return(R-a.al)%bj
end
local function bt(a,ea,V)
local t,A=V,a.C
while t<A do
local bA=math.floor((t+A)/2)
if aK(a,bA)>ea then A=bA else t=bA+1 end
end
return t
end
local function ci(a,R,V)
local t,A=V,a.C
while t<A do
local bA=math.floor((t+A)/2)
if at(a,bA)>=R then A=bA else t=bA+1 end
end
return t
end
local function dS(a,am)
local V=am.V
a.cQ,a.aM,a.p,a.k=true,true,am.p,am.k
if V==a.C then
a.cv,a.ay,a.C,a.Y,a.al,a.u,a.R=true,0,1,0,0,am.l,am.S
return
end
if V>a.Y then
local O,al=aK(a,V-1)
a.al,a.Y=al,V
end
if not am.bM then
a.dx,a.dy,a.C=a.u,a.R,a.C+1
end
a.u,a.R=am.l,(a.R+am.S)%bj
end
local function dt(a,Y)
return pack('>BI7I7I7I7I7I7I4',2,a.f,a.p,a.k,a.al,a.u,a.R,Y)
end
local function ds(a)
local m=a.u+a.p
if a.k>a.p then m=a.u+a.k end
if a.f>m then m=a.f end
return m
end
local function en(a)
local m=ds(a)
local ck=a.C-1>a.ay
local aQ=''
if ck and a.Y<=a.ay then aQ=pack('>I7I7',a.dx,a.dy)end
local Y=a.Y
local cr=a.cv or a.ay<=bi or Y>a.C-Y
if cr then Y=0 end
local H=dt(a,Y)
if cr then
local bk=''
if not a.cv then
if a.ay<=bi then
bk=string.sub(a.cY[0],a.Y*au+1)
else
bk=call('GETRANGE',KEYS[a.b],aA+a.Y*au,-1)
end
end
return J(a.b,H..bk..aQ,m)
end
call('SETRANGE',KEYS[a.b],0,H)
if ck then call('APPEND',KEYS[a.b],aQ)end
aD(a.b,m)
end
return{
aA=aA,
au=au,
bj=bj,
ed=dv,
aq=ee,
aK=aK,
at=at,
bt=bt,
ci=ci,
am=dS,
H=dt,
m=ds,
cI=en,
}
`

const logAdopt = `local G=...
local bt,at=G.bt,G.at
local dN=10000
local function bq(a,g)
local r=j[g+3]
if not a.aM or a.p==r then return a end
local k=a.p
if a.k>k then k=a.k end
if a.u+k<=w then
return G.ed(a.b,a.f)
end
a.p,a.cQ=r,true
if k>r then a.k=k else a.k=0 end
return a
end
local function bX(a,g)
local l=w
if a.u>w then l=a.u end
local L=bt(a,l-j[g+3],a.Y)
return l,L,at(a,a.C-1)-at(a,L-1)
end
local function cf(a,g,L,l,S)
local V,k,ae=L,a.k,j[g+4]
if k>0 then V,ae=bt(a,l-k,a.Y),dN end
local aS=a.C-V
local bM=aS>0 and a.u==l
if not bM and aS>=ae then
if V<L then V=V+1 else bM=true end
end
if aS==0 then k=0 end
return{V=V,l=l,bM=bM,S=S,p=j[g+3],k=k}
end
return bq,bX,cf
`

const logRefund = `local G,aB,J,aG=...
local aK,at,aA,au,bj=G.aK,G.at,G.aA,G.au,G.bj
return function(a,L,bP,bb)
local B,ab,az=bb,a.C,{}
local function dK(T)
local ax=at(a,T)-at(a,T-1)
if ax>B then ax=B end
az[T],B=ax,B-ax
end
if aG<0 then
while ab>L and B>0 do
ab=ab-1
dK(ab)
end
elseif aG>bP then
ab=G.bt(a,aG-1,L)
for T=ab,a.C-1 do dK(T)end
end
if B==bb then return false end
local bn,R={},(a.al+at(a,ab-1))%bj
for T=ab,a.C-1 do
local d=at(a,T)-at(a,T-1)-(az[T]or 0)
if d>0 then
R=(R+d)%bj
bn[#bn+1]={(aK(a,T)),R}
end
end
local cu=ab
if#bn==0 then
if ab==a.Y then
aB(a.b,a.f)
return true
end
cu=ab-1
a.u,a.R=aK(a,cu)
else
a.u,a.R=unpack(bn[#bn])
end
local bk=''
if cu>a.Y then bk=call('GETRANGE',KEYS[a.b],aA+a.Y*au,aA+cu*au-1)end
for T=1,#bn-1 do bk=bk..pack('>I7I7',bn[T][1],bn[T][2])end
J(a.b,G.H(a,0)..bk,G.m(a))
return true
end
`

const bucketRow = `local h,n,q=j[g+1],j[g+2],j[g+3]
local bd,aC,S,bJ=j[g+4],j[g+5],j[g+6],j[g+7]
if j[g]==0 then
local ak=bd*n
bJ=ak%h
S=(ak-bJ)/h
ak=q*n
aC=-ak%h
bd=(ak+aC)/h
end
`

const bucket = `local af,c=v'bucket-value'
local Q,P,aL,bl,aX=v'bucket-flow'
local ar,aH,m=v('bucket-leases',Q,P)
local bH=v('bucket-adopt',Q,P,aL,bl,aX,ar,aH)
return{
af=af,
c=c,
Q=Q,
P=P,
aL=aL,
aX=aX,
ar=ar,
aH=aH,
m=m,
bH=bH,
}
`

const bucketStep = `local l,f,X=w,0,0
local e,d,s,k,o,ah,bY,m
if c then
local C=#c
local A,t,aa,U,N,aj
if C==12 then
A,t,aa,U,aj=an('>I3I4I3BB',c)
d,k,N,aj=0,0,1,aj*1000000
elseif C==28 then
A,t,d,aa,U,N,aj=an('>I3I4I3I5I3I5I5',c)
k=0
end
local em=U==h and N==n and aj==q
if em and A>=6291456 and A<10485504 and d<h then
e=(A-8388608)*4294967296+t
s=e+aa
else
aY=aY or cZ(w,pack,an)
e,d,s,k,U,N,aj,f,o=aY.af(c,0)
end
if e then
if U~=h or N~=n or aj~=q then
e,d,s,k,o=aY.bH(e,d,s,k,U,N,aj,h,n,q,o)
ah=e
end
if e and s>w then l=s end
if o then
e,d,o=aY.aH(e,d,h,n,q,o,l)
end
end
end
local bP=l-bd
if not e then
e,d,k=bP,aC,0
elseif e<bP or(e==bP and d<=aC)then
e,d=bP,aC
if k>0 and l>=s+k then k=0 end
end
local aq=aN
if f>w then aq=0 end
while X<aq do
local cl,B=e+S,d+bJ
if B>=h then cl,B=cl+1,B-h end
if cl>l or(cl==l and B>0)then break end
e,d,X=cl,B,X+1
end
if X>0 or ah then
m=e+bd
if d>aC then m=m+1 end
local aa,t=l-e,e%4294967296
if k>0 or f>0 or o or aa<0 or aa>=1099511627776 or h>=16777216 or q>=1099511627776 then
aY=aY or cZ(w,pack,an)
bY=aY.c(e,d,l,k,h,n,q,f,o)
if o then
m=aY.m(e,d,l,k,h,n,q,o)
elseif k>0 and l+k>m then
m=l+k
end
if f>m then m=f end
elseif n==1 and d==0 and aa<16777216 and h<256 and q<256000000 and q%1000000==0 then
bY=pack('>I3I4I3BB',8388608+(e-t)/4294967296,t,aa,h,q/1000000)
else
bY=pack('>I3I4I3I5I3I5I5',8388608+(e-t)/4294967296,t,d,aa,h,n,q)
end
end
`

const reply = `local dh,ao=0,#KEYS
local aR={}
for b=1,ao do
ac[b]=ac[b]or''
aR[b]=#ac[b]
end
for ax=1,#bs do aR[ao+ax]=bs[ax]end
for x=1,#aR do
if aR[x]>dh then dh=aR[x]end
end
local H
if dh<256 and#aR<=2000 then
H=string.char(1,unpack(aR))
else
for x=1,#aR do aR[x]=pack('>I4',aR[x])end
H=string.char(4)..table.concat(aR)
end
for x=1,#bD do bD[x]=pack('>I7',bD[x])end
return H..table.concat(ac,'',1,ao)..table.concat(bD)..pack('>I7',w)
`

const window = `local bF,cs,aP=v'window-value'
local ca,cb,cn,bW=v('window-adopt',aP)
return function(c,g,aN)
local S,W,dD=j[g+1],j[g+2],j[g+5]
local f,X=0,0
local i,D,z,y,ah
if c then
i,D,z,y,f=bF(c)
if i then i,D,z,y,ah=ca(i,D,z,y,g)end
end
if not(i and w<i)then
i,z,y=cb(i,z,y,g)
D=0
end
local ab,al,K,bx,bp=cn(i,D,z,y,g)
local cw,ae=w-ab,W
if dD>0 and cw<dD then
if cw<0 then cw=0 end
local cx=math.floor(cw*j[g+6]/j[g+7])
if cx<1000000 then cx=1000000 end
if cx<ae then ae=cx end
end
if f>w then aN=0 end
while X<aN and K+S<=ae do
K,X=K+S,X+1
end
if X>0 then
D,z=al+K,bx
y=bW(bp,D,W)
elseif not ah then
return 0
end
local m=aP(i,z,y)
if f>m then m=f end
return X,cs(i,D,z,y,f),m
end
`

const counter = `local bE,cg=v'counter-value'
local bZ,bV,co=v'counter-adopt'
return function(c,g,aN)
local S,W,r=j[g+1],j[g+2],j[g+3]
local f,X,I,z,ag=0,0,0,r,0
local i,E,ah
if c then
i,E,I,z,ag,f=bE(c)
if i then i,E,I,z,ag,ah=bZ(i,E,I,z,ag,g)end
end
if not(i and w<i)then
i,E,I=bV(i,E,I,r)
z,ag=r,0
end
local cH=W-co(i,I,z,g)
if f>w then aN=0 end
while X<aN and E+S<=cH do
E,X=E+S,X+1
end
if X==0 and not ah then return 0 end
local m=i
if E>0 then m=i+z end
if f>m then m=f end
return X,cg(i,E,I,z,ag,f),m
end
`

const log = `local G=...
local aK,at,ci=G.aK,G.at,G.ci
local bq,bX,cf=v('log-adopt',G)
local function dm(a,g,L,ad,cm,K,S)
local T=ci(a,at(a,L-1)+K+S-j[g+2],L)
if T<ad then cm=aK(a,T)end
return cm+j[g+3]
end
local function cA(a,g,L,ad,cm,K)
local W=j[g+2]
local bT,bU=0,0
if W>K then bT=math.floor((W-K)/1000000)end
if K>0 then bU=cm+j[g+3]-w end
local ck=(bT+1)*1000000
if ck>W then return bT,bU,bU end
return bT,dm(a,g,L,ad,cm,K,ck)-w,bU
end
local function cP(a,g,S)
local W=j[g+2]
local l,L,K=bX(a,g)
if S>W-K then
if S>W then return 2,0,cA(a,g,L,a.C,a.u,K)end
return 1,dm(a,g,L,a.C,l,K,S)-w,cA(a,g,L,a.C,a.u,K)
end
local am=cf(a,g,L,l,S)
local ad=a.C
if am.bM then ad=ad-1 end
local bT,el,bU=cA(a,g,L,ad,l,K+S)
return 0,0,bT,el,bU,am
end
local function dg(a,g)
local O,L,K=bX(a,g)
return cA(a,g,L,a.C,a.u,K)
end
return bq,cP,dg
`

export const adjustProgram: Program = {
  sha1: '6564d1aa9e152f41e7a5e54711326f5c9a8f6903',
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
local aG=j[2]
local af,J,aD,remove,Z=v'state'
local aB=v('drop',J,remove,Z)
local ct=9000000000000000
local function dj(b,g,aZ)
local bm,cc=v'bucket-value'
local Q,P,aL,bl,aX=v'bucket-flow'
local ar,aH,bw=v('bucket-leases',Q,P)
`,
      bucketRow,
      `local l,f=w,0
local c=af(b)
local e,d,s,k,o,ah
if c then
local U,N,aj
e,d,s,k,U,N,aj,f,o=bm(c,0)
if f==ct then return true end
if e and(U~=h or N~=n or aj~=q)then
local cJ=v('bucket-adopt',Q,P,aL,bl,aX,ar,aH)
e,d,s,k,o=cJ(e,d,s,k,U,N,aj,h,n,q,o)
ah=true
end
if e and s>w then l=s end
end
if aZ>0 and aG>=0 and aG<=l-bd then
if not ah then return end
if not e then return aB(b,f)end
else
if o then e,d,o=aH(e,d,h,n,q,o,l)end
local t=l-bd
if not e then
e,d,k=t,aC,0
elseif e<t or(e==t and d<=aC)then
e,d=t,aC
if k>0 and l>=s+k then k=0 end
end
local ae,bB=l+bd,0
if aC>0 then ae,bB=ae-1,h-aC end
local bv=aX(h,n,q,l)
if ae>bv or(ae==bv and bB>0)then ae,bB=bv,0 end
if e>ae or(e==ae and d>bB)then ae,bB=e,d end
local R=d-aZ*bJ
local B=R%h
e,d,s=e-aZ*S+(R-B)/h,B,l
if aZ<0 and(e>ae or(e==ae and d>bB))then e,d=ae,bB end
if o then e,d=P(e,d,h,n,q-ar(o),l)end
end
local m=e+bd
if d>aC then m=m+1 end
if k>0 and s+k>m then m=s+k end
if o then
m=bw(e,d,s,k,h,n,q,o)
elseif m<=l then
return aB(b,f)
end
if f>m then m=f end
J(b,cc(e,d,s,k,h,n,q,f,o),m)
end
local function dQ(b,g,aZ)
local bF,cs,aP=v'window-value'
local ca,cb,cn,bW=v('window-adopt',aP)
local bb,W=j[g+1],j[g+2]
local f=0
local c=af(b)
local i,D,z,y,ah
if c then
local aM
i,D,z,y,f=bF(c)
if f==ct then return true end
aM=i
if i then i,D,z,y,ah=ca(i,D,z,y,g)end
if aM and not i then aB(b,f)end
end
local ad,bx,bp,az=i,z,y,D
if not(i and w<i)then
ad,bx,bp=cb(i,z,y,g)
az=0
end
local ab,al,K
ab,al,K,bx,bp=cn(ad,az,bx,bp,g)
if aZ>0 then
if K>0 and not(aG>=0 and aG<ab)then
az,ah=al+K-math.min(bb,K),true
if az==0 and bp<4 then return aB(b,f)end
i,D,z,y=ad,az,bx,bW(bp,az,W)
end
elseif K<2*W then
az,ah=al+math.min(2*W,K+bb),true
i,D,z,y=ad,az,bx,bW(bp,az,W)
end
if not ah then return end
J(b,cs(i,D,z,y,f),math.max(aP(i,z,y),f))
end
local function dO(b,g,aZ)
local bE,cg=v'counter-value'
local bZ,bV,co=v'counter-adopt'
local bb,W,r=j[g+1],j[g+2],j[g+3]
local f=0
local c=af(b)
local i,E,I,z,ag,ah
if c then
local aM
i,E,I,z,ag,f=bE(c)
if f==ct then return true end
aM=i
if i then i,E,I,z,ag,ah=bZ(i,E,I,z,ag,g)end
if aM and not i then aB(b,f)end
end
local aS=i and w<i
local be,cC,cD=bV(i,E,I,r)
if not aS then z,ag=r,0 end
if aZ<0 then
local cH=2*W-cC-co(be,cD,z,g)
if cH>0 then
i,E,I,ah=be,cC+math.min(cH,bb),cD,true
end
elseif not(aG>=0 and aG<be-2*z)then
local ab=be-z
local cE,cW=math.min(cC,bb),0
if aG>=0 and aG<ab then cE=0 end
if aG<ab then cW=math.min(cD,bb-cE)end
if cE+cW>0 then
i,E,I,ah=be,cC-cE,cD-cW,true
if E+I==0 then return aB(b,f)end
end
end
if not ah then return end
local m=i
if E>0 then m=i+z end
J(b,cg(i,E,I,z,ag,f),math.max(m,f))
end
local function dP(b,g,aZ)
local G=v('log-value',J,aD)
local bq,bX,cf=v('log-adopt',G)
local ay=G.aq(b)
if ay.f==ct then return true end
local a=bq(ay,g)
if ay.aM and not a.aM then aB(b,a.f)end
local l,L,K=bX(a,g)
if aZ>0 then
local ek=v('log-refund',G,aB,J,aG)
if ek(a,L,l-j[g+3],j[g+1])then return end
else
local aQ=math.min(j[g+1],2*j[g+2]-K)
if aQ>0 then G.am(a,cf(a,g,L,l,aQ))end
end
if a.cQ then G.cI(a)end
end
local aW={[0]=dj,dQ,dO,dP,dj}
local bC={}
for x=1,j[3]do
local g=j[2+2*x]
if aW[j[g]](x,g,j[3+2*x])then bC[#bC+1]=x end
end
return bC
`,
    ].join(''),
}

export const blockProgram: Program = {
  sha1: '3c418b6b3d11a70ff069fef3883e931af62eb8a4',
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
local af,J,aD,remove,O,bz=v'state'
local as,aU=v'block-value'
local db=v'state-until'
local function es(c)
local bm,cc=v'bucket-value'
local Q,P=v'bucket-flow'
local ar,aH,bw=v('bucket-leases',Q,P)
local e,d,s,k,h,n,q,O,o=bm(c,0)
if not o then return nil,''end
local l=w
if s>w then l=s end
e,d,o=aH(e,d,h,n,q,o,l)
if not o then return nil,''end
e,d=P(-math.huge,0,h,n,q-ar(o),l)
c=cc(e,d,l,k,h,n,q,0,o)
return bw(e,d,l,k,h,n,q,o),c
end
local r=j[2]
local bC={}
local function dR(b)
local G=v('log-value',J,aD)
local a=G.aq(b)
if r<0 or not a.aM then return a.f,''end
a.f=0
if r>0 then a.f=w+r end
call('SETRANGE',KEYS[b],0,G.H(a,a.Y))
aD(b,G.m(a))
end
for b=1,#KEYS do
local ap,c=bz and bz(b),nil
if ap then c=af(b)else c=redis.pcall('GETRANGE',KEYS[b],0,2047)end
if type(c)~='string'then c=''end
if#c==2048 and string.byte(c)~=2 then c=call('GET',KEYS[b])end
local f,F,m=0,c,nil
if string.byte(c)==2 then
f,F=dR(b)
elseif c~=''then
f,F=as(c)
m=db(c)
if f==9000000000000000 then
f=0
if r>=0 then bC[#bC+1],F=b,nil end
elseif not m and F~=''then
f,F=0,''
end
end
if F then
if r<0 then
m,F=es(F)
elseif r>0 then
f=w+r
else
f=0
end
if f>0 then
if F~=''then
J(b,aU(f)..F,math.max(f,m))
elseif f>w then
J(b,aU(f),f)
elseif ap then
call('HSET',KEYS[b],ap,aU(f))
else
call('SET',KEYS[b],aU(f),'KEEPTTL')
end
elseif F~=''then
J(b,F,m)
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
  sha1: '0a27d99dde3013edb4cc9b89c4009fe6a80267a3',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,an,format=struct.pack,struct.unpack,string.format
local bI=call('TIME')
local w=bI[1]*1000000+bI[2]
local aY
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
local h,n,q=ARGV[1]+0,ARGV[2]+0,ARGV[3]+0
local ak=ARGV[4]*n
local bJ=ak%h
local S=(ak-bJ)/h
ak=q*n
local aC=-ak%h
local bd=(ak+aC)/h
local ao,dT,Z=#KEYS,#ARGV>5,ARGV[5]+0
local ac={}
if ao==1 then
ac=call('MGET',KEYS[1])
elseif ao>1 then
ac=call('MGET',unpack(KEYS))
end
local bs,bD,aN={},{},1
for b=1,ao do
local c=ac[b]
if dT then aN=ARGV[5+b]+0 end
`,
      bucketStep,
      `if bY then call('SET',KEYS[b],bY,'PXAT',format('%d',(m+Z)/1000))end
bs[b]=X
end
`,
      reply,
    ].join(''),
}

export const consumeProgram: Program = {
  sha1: 'b2d9d51fda5d488031374d4e6ebe98fe7ca25b8c',
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
local aW,G={},nil
local function cT(dc)
if dc==1 then
aW[1]=v'window'
elseif dc==2 then
aW[2]=v'counter'
else
local aY
local function cZ()
return v'bucket'
end
local function aJ(c,g,aN)
`,
      bucketRow,
      bucketStep,
      `return X,bY,m
end
aW[0],aW[4]=aJ,aJ
end
return aW[dc]
end
local bg=j[3]
local af,J,aD
if ARGV[2]or bG~=0 or bg<#KEYS or bg>4000 then af,J,aD=v'state'end
local ac={}
if ARGV[2]and ARGV[2]~=''then
for b=1,bg do ac[b]=af(b)end
elseif bg>0 then
ac=call('MGET',unpack(KEYS,1,math.min(bg,4000)))
for b=4001,bg do ac[b]=af(b)end
end
local bf,m={},{}
local bh,C={},0
local cN,cM={},j[2]%2
for x=5+j[4]-(j[2]-cM)/2,4+j[4]do cN[j[x]]=true end
local bs={}
local function di(u,aI,H,s)
for x=u,u+2*aI-2,2 do
local b,g=j[x],j[x+1]
if j[g]==3 then
bh[H+3],bh[H+4],bh[H+5]=G.er(s[b],g)
H=H+5
end
end
end
local function dZ(u,aI)
local aq=true
local ao,f,s,az,dk={},{},{},{},{}
local H=C
for x=u,u+2*aI-2,2 do
local b,g=j[x],j[x+1]
if j[g]==3 then
if not s[b]then s[b]=G.bH(G.dw(b),g)end
local a,S=s[b],(az[b]or 0)+j[g+1]
az[b]=S
local cX
cX,bh[C+2],bh[C+3],bh[C+4],bh[C+5],dk[b]=G.dU(a,g,S)
bh[C+1]=cX
C=C+5
if cX>0 or a.f>w then aq=false end
elseif aq then
local X,c,bO=(aW[j[g]]or cT(j[g]))(ao[b]or bf[b]or ac[b],g,1)
if X==0 then aq=false else ao[b],f[b]=c,bO end
end
end
if aq then
for x=u,u+2*aI-2,2 do
if cN[j[x]]and not ac[j[x]]then return 0 end
end
if cM==0 then di(u,aI,H,s)end
for b,c in pairs(ao)do bf[b],m[b]=c,f[b]end
for b,am in pairs(dk)do G.am(b,s[b],am)end
return 1
end
di(u,aI,H,s)
for x=u,u+2*aI-2,2 do
local b,g=j[x],j[x+1]
if j[g]~=3 then
local O,c,bO=(aW[j[g]]or cT(j[g]))(bf[b]or ac[b],g,0)
if c then bf[b],m[b]=c,bO end
end
end
return 0
end
if bg<#KEYS then
local ba,aq=v('log-value',J,aD),{}
local bq,cP,dg=v('log',ba)
G={
dw=function(b)
if not aq[b]then aq[b]=ba.aq(b)end
return aq[b]
end,
bH=bq,
dU=cP,
er=dg,
am=function(b,a,am)
aq[b]=a
ba.am(a,am)
end,
cI=function()
for O,a in pairs(aq)do
if a.cQ then ba.cI(a)end
end
end,
}
for b=bg+1,#KEYS do
local a=G.dw(b)
ac[b]=(a.aM or a.f>0)and a.f
end
end
local u,ad=5+j[4],#j
while u<=ad do
local aI=j[u]
local L,dl,g,aN=1,1,0,1
if aI==0 then g,L,dl,aN=j[u+1],j[u+2],j[u+3],j[u+4]end
for b=L,dl do
local X,c,bO
if aI==0 then
X,c,bO=(aW[j[g]]or cT(j[g]))(bf[b]or ac[b],g,aN)
if cN[b]and not ac[b]then
X=0
elseif c then
bf[b],m[b]=c,bO
end
else
X=dZ(u+1,aI)
end
bs[#bs+1]=X
end
u=u+5
if aI>0 then u=u-4+2*aI end
end
if cM==1 then
for b,c in pairs(bf)do
if J then
J(b,c,m[b])
else
call('SET',KEYS[b],c,'PXAT',math.floor(m[b]/1000))
end
end
if G then G.cI()end
end
for b=bg+1,#KEYS do ac[b]=ac[b]and pack('>I7',ac[b])end
local bD=bh
`,
      reply,
    ].join(''),
}

export const leaseProgram: Program = {
  sha1: 'cf27ab87617e4ea04ff3579ba450052a11da513d',
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
local af,J,O,remove,Z=v'strings'
local aB=v('drop',J,remove,Z)
local aJ=v'bucket'
local Q,P,aL,ar=aJ.Q,aJ.P,aJ.aL,aJ.ar
local dM=64
local function et(o,ai)
local x=#o+1
for T,ef in ipairs(o)do
if ef[4]>ai[4]then
x=T
break
end
end
table.insert(o,x,ai)
return o
end
local function dY(b,c,u)
local h,n,q=j[u],j[u+1],j[u+2]
local dr,ae,dq,dH,ec=j[u+3],j[u+4],j[u+5],j[u+6],j[u+7]
local l,f=w,0
local e,d,s,k,o,ce
if c then
local U,N,aj
e,d,s,k,U,N,aj,f,o=aJ.af(c,0)
if e and(U~=h or N~=n or aj~=q)then
e,d,s,k,o=aJ.bH(e,d,s,k,U,N,aj,h,n,q,o)
ce=true
end
if e and s>w then l=s end
end
if f>w then ae=0 end
local bR,aw={},nil
local da=false
if o then
local ep,eo,dI=aJ.aH(e,d,h,n,q,o,l)
for O,ai in ipairs(dI or{})do
if ai[1]==dq then aw=ai else bR[#bR+1]=ai end
end
da=aw and dH<=aw[2]
if not da then e,d,o,ce=ep,eo,dI,true end
end
local bu=0
if not da then
local aS,dG,df=0,0,l+ec
if aw then
aS=math.min(j[u+8],aw[3])
dG=math.min(j[u+9],aw[3]-aS)
df=math.max(df,aw[4])
local cK,B=Q(h,n,dG,0)
d=d-B
if d<0 then cK,d=cK+1,d+h end
local aE=ar(bR)+aS
e,d=P(e-cK,d,h,n,q-aE,l)
if s<l then s=l end
o=bR
end
local cy=0
if ae>=dr and(aw or#bR<dM)then
cy=q
if e then
local dX,cR=P(e,d,h,n,q,l)
cy=aL(dX,cR,h,n,l)
end
end
if cy>=dr then bu=math.min(ae,cy)end
if bu>0 then
local t,by=P(-math.huge,0,h,n,q,l)
if not e then
e,d,k=t,by,0
elseif e<t or(e==t and d<=by)then
e,d=t,by
if k>0 and l>=s+k then k=0 end
end
local z,B=Q(h,n,bu,d)
e,d,s=e+z,B,l
end
if aS+bu>0 then o=et(bR,{dq,dH,aS+bu,df})end
ce=ce or bu>0
end
if ce then
if o and#o==0 then o=nil end
if not e then
aB(b,f)
else
local m=aJ.m(e,d,s,k,h,n,q,o or{})
if f>m then m=f end
J(b,aJ.c(e,d,s,k,h,n,q,f,o),m)
end
end
return bu
end
local ac,bD,bs={},{},{}
for x=1,#KEYS do
ac[x]=af(x)
bD[x]=dY(x,ac[x],3+(x-1)*j[2])
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

export const swapProgram: Program = {
  sha1: '68d8434c18017c9c3636f92ab6a403a1993a0b3c',
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
      `end
end
local af,J,O,remove,Z=v'state'
local ao=#KEYS
local aV={}
for b=1,ao do
local c=af(b)
aV[b],aV[ao+b]=c,c and redis.sha1hex(c)or''
end
if#j==1 then
aV[2*ao+1]=w
return aV
end
for b=1,ao do
if aV[ao+b]~=j[4*b-2]then return 0 end
end
local aB=v('drop',J,remove,Z)
local O,O,bc=v'block-value'
for b=1,ao do
local c=string.gsub(j[4*b-1],'..',function(dV)
return string.char(tonumber(dV,16))
end)
local f,m=j[4*b],j[4*b+1]
if c==''then
aB(b,f)
else
if string.byte(c)~=2 then c=bc(c,f)end
J(b,c,math.max(f,m))
end
end
return 1
`,
    ].join(''),
}
