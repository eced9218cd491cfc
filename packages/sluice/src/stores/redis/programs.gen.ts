// Made from the programs beside this file by `npm run generate`; edit those, not this.

/** A program: its digest, and its text, which is put together only for a server that does not know it. */
export interface Program {
  readonly sha1: string
  readonly source: () => string
}

const clock = `local call,KEYS=redis.call,KEYS
local pack,am=struct.pack,struct.unpack
local j=cjson.decode(ARGV[1])
local bF=j[1]
local bH=bF==0 and call('TIME')
local x=bH and bH[1]*1000000+bH[2]or bF
`

const state = `local dF,dD,aC,dG,Y,bK=w'strings'
local cA=ARGV[2]and ARGV[2]~=''and cjson.decode(ARGV[2])
if not cA then
return dF,dD,aC,dG,Y
end
local bJ,cO=w'packed-value'
local function by(b)
if cA[2*b]<0 then return nil end
return pack('>I4I4',cA[2*b-1],cA[2*b])
end
local function ae(b)
local ao=by(b)
if not ao then return dF(b)end
local aU=redis.pcall('HMGET',KEYS[b],ao,'')
if aU.err then return false end
return aU[1]and bJ(aU[1],aU[2]or'')
end
local function ej(au,ao,c,m)
local H=redis.pcall('HGET',au,'')
if type(H)=='table'then call('DEL',au)end
if type(H)~='string'or#H<6 or(#H-6)%13>0 then H=false end
local bq,aE=cO(c,H and string.sub(H,7)or'')
local ac=H and am('>I6',H)or 0
local aP
if bF==0 and ac*1000>=m then
if#H==6+#aE then
aP=call('HSET',au,ao,bq)
else
aP=call('HSET',au,ao,bq,'',string.sub(H,1,6)..aE)
end
else
local cU=m+math.max(0,m-x)/4
aP=call('HSET',au,ao,bq,'',pack('>I6',math.max(ac,math.floor(cU/1000)))..aE)
if bF~=0 and H then
call('PEXPIREAT',au,bK(cU),'GT')
else
call('PEXPIREAT',au,bK(cU))
end
end
if aP>0 and bF==0 and x%16==0 then
w('sweep',bJ,Y)(au)
end
end
local function J(b,c,m)
local ao=by(b)
if ao then return ej(KEYS[b],ao,c,m+Y)end
dD(b,c,m)
end
local function remove(b)
local ao=by(b)
if not ao then
dG(b)
elseif type(redis.pcall('HGET',KEYS[b],ao))~='table'then
call('HDEL',KEYS[b],ao)
end
end
return ae,J,aC,remove,Y,by
`

const strings = `local Y=(ARGV[3]or 0)+0
local function ae(b)
local c=redis.pcall('GET',KEYS[b])
return type(c)=='string'and c
end
local function bK(m)
if bF==0 then return math.floor(m/1000)end
local l=call('TIME')
return l[1]*1000+math.ceil(math.max(0,m-x)/1000)+60000
end
local function J(b,c,m)
call('SET',KEYS[b],c,'PXAT',bK(m+Y))
end
local function aC(b,m)
call('PEXPIREAT',KEYS[b],bK(m+Y))
end
local function remove(b)
call('DEL',KEYS[b])
end
return ae,J,aC,remove,Y,bK
`

const packedValue = `local function bJ(c,H)
local C=#c
if C~=13 and C~=14 then return c end
local A,u,Z,q=am('>I3I4I5B',c)
if A<6291456 or A>=10485760 or#H<6+13*q or q<1 then return c end
local h,n,r=am('>I3I5I5',H,13*q-6)
local d=0
if C==14 then d=string.byte(c,14)end
return pack('>I3I4I3I5I3I5I5',A,u,d,Z,h,n,r)
end
local function cO(c,aE)
if#c~=28 then return c,aE end
local A,u,d,Z=am('>I3I4I3I5',c)
if A<6291456 or A>=10485760 or d>255 then return c,aE end
local dB,q=string.sub(c,16),0
for v=1,#aE,13 do
if string.sub(aE,v,v+12)==dB then q=(v+12)/13 end
end
if q==0 then
if#aE>51 then return c,aE end
aE=aE..dB
q=#aE/13
end
local bq=pack('>I3I4I5B',A,u,Z,q)
if d>0 then bq=bq..string.char(d)end
return bq,aE
end
return bJ,cO
`

const sweep = `local bJ,Y=...
local ar=w'block-value'
local db=w'state-until'
return function(au)
local aZ=call('HRANDFIELD',au,128,'WITHVALUES')
local H=call('HGET',au,'')
for q=1,#aZ,2 do
local c=bJ(aZ[q+1],H)
local f=ar(c)
if aZ[q]~=''and(db(c)or 0)+Y<=x and f+Y<=x then call('HDEL',au,aZ[q])end
end
end
`

const blockValue = `local function ar(c)
local f,F=0,c
if#c>=7 then
local A,u=am('>I3I4',c)
if A>=14680064 then f,F=(A-14680064)*4294967296+u,string.sub(c,8)end
end
if string.byte(F)==1 then return 9000000000000000,''end
return f,F
end
local function aT(f)
local u=f%4294967296
return pack('>I3I4',14680064+(f-u)/4294967296,u)
end
local function bb(c,f)
if f+60000000<=x then return c end
return aT(f)..c
end
return ar,aT,bb
`

const stateUntil = `local ar=w'block-value'
local bl=w'bucket-value'
local Q,P=w'bucket-flow'
local O,O,bv=w('bucket-leases',Q,P)
local bE,O,aO=w'window-value'
local bD=w'counter-value'
return function(c)
local e,d,t,k,h,n,r,O,o=bl(c,0)
if e then return bv(e,d,t,k,h,n,r,o or{})end
local i,O,s,y=bE(c)
if i then return aO(i,s,y)end
local bd,E,O,p=bD(c)
if bd and E>0 then return bd+p end
local O,F=ar(c)
if string.byte(F)==3 then return(am('>I7',F,2))end
return bd
end
`

const bucketValue = `local ar,O,bb=w'block-value'
local function ec(d,t,k,h,n,r)
if d>=h or t>9007199254740991 or k>3200000000000000 then return false end
if n<1 or r<1 or n>9007199254 then return false end
return h*(r/1000000+2)<=9007199254740992 and r/h*n<=3200000000000000
end
local function bl(c,f)
local C=#c
local A,u,d,Z,t,k,h,n,r
if C==12 then
A,u,Z,h,r=am('>I3I4I3BB',c)
d,k,n,r=0,0,1,r*1000000
elseif C==28 then
A,u,d,Z,h,n,r=am('>I3I4I3I5I3I5I5',c)
k=0
elseif C>=49 and(C-49)%28==0 then
A,u,d,t,k,h,n,r=am('>I3I4I7I7I7I7I7I7',c)
end
if A and A>=6291456 and A<10485760 then
local e,o=(A-8388608)*4294967296+u,nil
t=t or e+Z
if not ec(d,t,k,h,n,r)then return nil,nil,nil,nil,nil,nil,nil,0 end
for v=50,C,28 do
o=o or{}
o[#o+1]={am('>I7I7I7I7',c,v)}
end
return e,d,t,k,h,n,r,f,o
end
local de,F=ar(c)
if de==0 or f>0 then return nil,nil,nil,nil,nil,nil,nil,0 end
if F==''then return nil,nil,nil,nil,nil,nil,nil,de end
return bl(F,de)
end
local function cb(e,d,t,k,h,n,r,f,o)
local u,Z=e%4294967296,t-e
local A=8388608+(e-u)/4294967296
local c
if k>0 or o or Z<0 or Z>=1099511627776 or h>=16777216 or r>=1099511627776 then
c=pack('>I3I4I7I7I7I7I7I7',A,u,d,t,k,h,n,r)
for O,ah in ipairs(o or{})do c=c..pack('>I7I7I7I7',ah[1],ah[2],ah[3],ah[4])end
elseif n==1 and d==0 and Z<16777216 and h<256 and r<256000000 and r%1000000==0 then
c=pack('>I3I4I3BB',A,u,Z,h,r/1000000)
else
c=pack('>I3I4I3I5I3I5I5',A,u,d,Z,h,n,r)
end
if f>0 then return bb(c,f)end
return c
end
return bl,cb
`

const bucketFlow = `local function Q(h,n,aS,U)
local bn=n*1000000
local cp,du=bn%h,n%h
local aj=aS%1000000
local aN=(aS-aj)/1000000
local R=U+aN*cp+aj*du
local B=R%h
return aN*((bn-cp)/h)+aj*((n-du)/h)+(R-B)/h,B
end
local function dA(h,n,dM,U,z)
local D=0
if z<=0 then return D end
local cS=(z-U/h)/(n*dM/h)*(1-2^-50)
if cS>0 then D=cS-cS%1 end
while true do
local bM,B=Q(h,n,(D+1)*dM,U)
if bM>z or(bM==z and B>0)then return D end
D=D+1
end
end
local function P(e,d,h,n,aS,l)
if aS<0 then aS=0 end
local z,B=Q(h,n,aS,0)
local u,bx=l-z,0
if B>0 then u,bx=u-1,h-B end
if e>u or(e==u and d>=bx)then return e,d end
return u,bx
end
local function aK(e,d,h,n,l)
local aN=dA(h,n,1000000,d,l-e)
local bM,B=Q(h,n,aN*1000000,d)
e,d=e+bM,B
local aj=dA(h,n,1,d,l-e)
return aN*1000000+aj,e,d,aj
end
local function bk(h,n,aN)
local bn=n*1000000
local d=bn%h
local ci=d%131072
local bP=aN*((d-ci)/131072)
local L=bP%h
local cc=L*131072+aN*ci
local B=cc%h
return aN*((bn-d)/h)+(bP-L)/h*131072+(cc-B)/h,B
end
local function aW(h,n,r,l)
return math.min(l+3155760000000000,9007199254740990-(Q(h,n,r,0)))
end
return Q,P,aK,bk,aW
`

const bucketLeases = `local Q,P=...
local function aq(o)
local aD=0
for O,ah in ipairs(o)do aD=aD+ah[3]end
return aD
end
local function aG(e,d,h,n,r,o,l)
local aD,B=aq(o),{}
for O,ah in ipairs(o)do
if ah[4]<=l and#B==0 then
e,d=P(e,d,h,n,r-aD,ah[4])
aD=aD-ah[3]
else
B[#B+1]=ah
end
end
if#B==0 then return e,d,nil end
e,d=P(e,d,h,n,r-aD,l)
return e,d,B
end
local function bv(e,d,t,k,h,n,r,o)
local aD=aq(o)
for O,ah in ipairs(o)do
e,d=P(e,d,h,n,r-aD,ah[4])
aD=aD-ah[3]
end
local bM,B=Q(h,n,r,d)
local m=e+bM
if B>0 then m=m+1 end
if k>0 and t+k>m then m=t+k end
return m
end
return aq,aG,bv
`

const windowValue = `local ar,O,bb=w'block-value'
local function bE(c)
local f,F=0,c
if#c~=21 then f,F=ar(c)end
if#F==21 then
local A,u,D,y,p=am('>I3I4I7BI6',F)
p=y%16*281474976710656+p
if A>=10485760 and A<12582912 and p>0 then
return(A-10485760)*4294967296+u,D,p,math.floor(y/16),f
end
end
if F==c then f,F=ar(c)end
return nil,nil,nil,nil,F==''and f or 0
end
local function cr(i,D,p,y,f)
local u,co=i%4294967296,p%281474976710656
local dd=y*16+(p-co)/281474976710656
local c=pack('>I3I4I7BI6',10485760+(i-u)/4294967296,u,D,dd,co)
if f>0 then return bb(c,f)end
return c
end
local function aO(i,p,y)
if y>2 then return i+p end
return i+math.ceil(p/(y==2 and 4 or y==1 and 16 or 64))
end
return bE,cr,aO
`

const counterValue = `local ar,O,bb=w'block-value'
local function bD(c)
local f,F=0,c
if#c~=28 then f,F=ar(c)end
if#F==28 then
local A,u,E,I,af,p=am('>I3I4I7I7BI6',F)
p=af%16*281474976710656+p
if A>=12582912 and A<14680064 and p>0 then
return(A-12582912)*4294967296+u,E,I,p,math.floor(af/16),f
end
end
if F==c then f,F=ar(c)end
return nil,nil,nil,nil,nil,F==''and f or 0
end
local function cf(i,E,I,p,af,f)
local u,co=i%4294967296,p%281474976710656
local dd=af*16+(p-co)/281474976710656
local c=pack('>I3I4I7I7BI6',12582912+(i-u)/4294967296,u,E,I,dd,co)
if f>0 then return bb(c,f)end
return c
end
return bD,cf
`

const drop = `local J,remove,Y=...
local O,aT=w'block-value'
return function(b,f)
if f>x then return J(b,aT(f),f)end
if Y>0 then return J(b,aT(1),x)end
remove(b)
end
`

const bucketAdopt = `local Q,P,aK,bk,aW,aq,aG=...
local function cJ(e,d,t,k,T,N,ai,h,n,r,o)
local l=x
if t>x then l=t end
if o then
e,d,o=aG(e,d,T,N,ai,o,l)
end
local dp,cR=Q(T,N,ai,0)
local be,dX=Q(T,N,ai,d)
local f=e+be
if dX>0 then f=f+1 end
if k>0 and t+k>f then f=t+k end
if f<=l then return nil end
local cz=dp
if cR>0 then cz=dp+1 end
e,d=P(e,d,T,N,ai,l)
local cg=0
if e>l or(e==l and d>0)then
local bn=N*1000000
local cp=bn%T
cg=math.min(9007199256,math.floor((e-l+1)/((bn-cp)/T+cp/T))+1)
local J,ek=bk(T,N,cg)
e,d=e-J,d-ek
if d<0 then e,d=e-1,d+T end
end
local aS,aj
aS,e,d,aj=aK(e,d,T,N,l)
local aw=(l-e)*T-d-aj*N
local Y=0
if cg==0 and aS>=r then
aS=r
elseif aw>0 then
local ci=n%131072
local bP=aw*((n-ci)/131072)
local cc=(bP%N)*131072+aw*ci
Y=(bP-bP%N)/N*131072+(cc-cc%N)/N
end
local z,er=Q(h,n,aS,0)
local cL=er+Y
if k>cz then cz=k end
e,d=l-z-(cL+(-cL)%h)/h,(-cL)%h
if cg>0 then
local eh,ei=bk(h,n,cg)
e,d=e+eh,d+ei
if d>=h then e,d=e+1,d-h end
end
local bu=aW(h,n,r,l)
if e>bu or(e==bu and d>0)then e,d=bu,0 end
if o then
e,d=P(e,d,h,n,r-aq(o),l)
end
return e,d,l,cz,o
end
return cJ
`

const windowAdopt = `local aO=...
local function dn(g,l)
local s=j[g+3]
if j[g+4]==1 then return l+s end
local dK=l-j[g+8]
return dK-dK%s+s+j[g+8]
end
local function bZ(i,D,p,y,g)
local s=j[g+3]
if p==s and y<5 then return i,D,p,y,false end
if x>=i then
if x>=aO(i,p,y)then return nil end
return i,D,p,y,false
end
if y==6 then
if s<=p then return i,D,p,y,false end
return i,9007199254740991,s,4,true
end
if p==s then return i,D,p,4,true end
if s<p and y>=4 then return i,D,p,y,false end
local ac=dn(g,x)
if s>p and j[g+4]==1 then
ac=i-p+s
elseif i>ac then
ac=i
end
return ac,D,math.max(p,s),4,true
end
local function ca(i,p,y,g)
local s,av=j[g+3],dn(g,x)
if not i or x>=aO(i,p,y)then return av,s,0 end
if s>p then return math.max(av,i+p),s,4 end
if s<p and y<5 then return i+p,p,5 end
if j[g+4]~=1 and av-s<i then av=av+s end
return av,s,0
end
local function cm(i,D,p,y,g)
local V,s,aw=j[g+2],j[g+3],0
if y>=5 and s<p then
aw=math.max(0,math.min(math.floor((x-i+p)/s),math.floor(p/s)-1))
end
local aa,ak=i-p+aw*s,aw*V
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

const counterAdopt = `local function bU(i,E,I,s)
if i and x<i then return i,E,I end
if not i or x>=i+s then return x-x%s+s,0,0 end
return i+s,0,E
end
local function bY(i,E,I,p,af,g)
local s=j[g+3]
if p==s then
if af==0 or x>=i then return i,E,I,p,af,false end
return i,E,I,p,0,true
end
if p>s and x<i then return i,E,I,p,af,false end
i,E,I=bU(i,E,I,p)
if p>s and af==0 then
if I==0 then return nil end
return i,E,I,p,1,true
end
i=i-p+s
if x>=i or E+I==0 then return nil end
return i,E,I,s,0,true
end
local function cn(i,I,p,g)
if I==0 then return 0 end
local bR=j[g+4]
if p~=j[g+3]then
bR=1
while p/bR>1000000 do bR=bR*10 end
end
local cF=math.floor(p/bR)
local B=math.min(cF,math.ceil((i-x)/bR))
local aN=math.floor(I/1000000)
local dC=aN*B
local cq=math.floor(dC/cF)
local d=(dC-cq*cF)*1000000+(I-aN*1000000)*B
return cq*1000000+math.ceil(d/cF)
end
return bY,bU,cn
`

const logValue = `local J,aC=...
local ar=w'block-value'
local az,at,bh,bi=47,14,64,4503599627370496
local function dv(b,f)
return{b=b,C=0,X=0,ak=0,v=0,R=0,p=0,k=0,f=f,ax=0,cu=true}
end
local function ef(b)
local au,a=KEYS[b],dv(b,0)
local c=redis.pcall('GETRANGE',au,0,az+bh*at-1)
if type(c)~='string'then return a end
local s=#c
if s==az+bh*at then s=call('STRLEN',au)end
if s<az or string.byte(c)~=2 or(s-az)%at>0 then
local f,F=ar(c)
if F==''then a.f=f end
return a
end
local O,f,p,k,ak,v,R,X=am('>BI7I7I7I7I7I7I4',c)
local ax=(s-az)/at
if X>ax or p<1 then return a end
a.aL,a.cu,a.ax,a.C=true,false,ax,ax+1
a.f,a.p,a.k,a.ak,a.v,a.R,a.X=f,p,k,ak,v,R,X
a.cY={[0]=string.sub(c,az+1)}
return a
end
local function aJ(a,q)
if q==a.C-1 then return a.v,a.R end
if q==a.ax then return a.dy,a.dz end
local dw=q%bh
local cV=(q-dw)/bh
local cE=a.cY[cV]
if not cE then
local U=az+cV*bh*at
cE=call('GETRANGE',KEYS[a.b],U,U+bh*at-1)
a.cY[cV]=cE
end
local v,R=am('>I7I7',cE,dw*at+1)
return v,R
end
local function as(a,q)
if q<a.X then return 0 end
local O,R=aJ(a,q)
return(R-a.ak)%bi
end
local function bs(a,eb,U)
local u,A=U,a.C
while u<A do
local bz=math.floor((u+A)/2)
if aJ(a,bz)>eb then A=bz else u=bz+1 end
end
return u
end
local function ch(a,R,U)
local u,A=U,a.C
while u<A do
local bz=math.floor((u+A)/2)
if as(a,bz)>=R then A=bz else u=bz+1 end
end
return u
end
local function dT(a,al)
local U=al.U
a.cQ,a.aL,a.p,a.k=true,true,al.p,al.k
if U==a.C then
a.cu,a.ax,a.C,a.X,a.ak,a.v,a.R=true,0,1,0,0,al.l,al.S
return
end
if U>a.X then
local O,ak=aJ(a,U-1)
a.ak,a.X=ak,U
end
if not al.bL then
a.dy,a.dz,a.C=a.v,a.R,a.C+1
end
a.v,a.R=al.l,(a.R+al.S)%bi
end
local function dt(a,X)
return pack('>BI7I7I7I7I7I7I4',2,a.f,a.p,a.k,a.ak,a.v,a.R,X)
end
local function ds(a)
local m=a.v+a.p
if a.k>a.p then m=a.v+a.k end
if a.f>m then m=a.f end
return m
end
local function eo(a)
local m=ds(a)
local cj=a.C-1>a.ax
local aP=''
if cj and a.X<=a.ax then aP=pack('>I7I7',a.dy,a.dz)end
local X=a.X
local cq=a.cu or a.ax<=bh or X>a.C-X
if cq then X=0 end
local H=dt(a,X)
if cq then
local bj=''
if not a.cu then
if a.ax<=bh then
bj=string.sub(a.cY[0],a.X*at+1)
else
bj=call('GETRANGE',KEYS[a.b],az+a.X*at,-1)
end
end
return J(a.b,H..bj..aP,m)
end
call('SETRANGE',KEYS[a.b],0,H)
if cj then call('APPEND',KEYS[a.b],aP)end
aC(a.b,m)
end
return{
az=az,
at=at,
bi=bi,
ee=dv,
ap=ef,
aJ=aJ,
as=as,
bs=bs,
ch=ch,
al=dT,
H=dt,
m=ds,
cH=eo,
}
`

const logAdopt = `local G=...
local bs,as=G.bs,G.as
local dO=10000
local function bp(a,g)
local s=j[g+3]
if not a.aL or a.p==s then return a end
local k=a.p
if a.k>k then k=a.k end
if a.v+k<=x then
return G.ee(a.b,a.f)
end
a.p,a.cQ=s,true
if k>s then a.k=k else a.k=0 end
return a
end
local function bW(a,g)
local l=x
if a.v>x then l=a.v end
local L=bs(a,l-j[g+3],a.X)
return l,L,as(a,a.C-1)-as(a,L-1)
end
local function ce(a,g,L,l,S)
local U,k,ad=L,a.k,j[g+4]
if k>0 then U,ad=bs(a,l-k,a.X),dO end
local aR=a.C-U
local bL=aR>0 and a.v==l
if not bL and aR>=ad then
if U<L then U=U+1 else bL=true end
end
if aR==0 then k=0 end
return{U=U,l=l,bL=bL,S=S,p=j[g+3],k=k}
end
return bp,bW,ce
`

const logRefund = `local G,aA,J,aF=...
local aJ,as,az,at,bi=G.aJ,G.as,G.az,G.at,G.bi
return function(a,L,bO,ba)
local B,aa,ay=ba,a.C,{}
local function dL(q)
local aw=as(a,q)-as(a,q-1)
if aw>B then aw=B end
ay[q],B=aw,B-aw
end
if aF<0 then
while aa>L and B>0 do
aa=aa-1
dL(aa)
end
elseif aF>bO then
aa=G.bs(a,aF-1,L)
for q=aa,a.C-1 do dL(q)end
end
if B==ba then return false end
local bm,R={},(a.ak+as(a,aa-1))%bi
for q=aa,a.C-1 do
local d=as(a,q)-as(a,q-1)-(ay[q]or 0)
if d>0 then
R=(R+d)%bi
bm[#bm+1]={(aJ(a,q)),R}
end
end
local ct=aa
if#bm==0 then
if aa==a.X then
aA(a.b,a.f)
return true
end
ct=aa-1
a.v,a.R=aJ(a,ct)
else
a.v,a.R=unpack(bm[#bm])
end
local bj=''
if ct>a.X then bj=call('GETRANGE',KEYS[a.b],az+a.X*at,az+ct*at-1)end
for q=1,#bm-1 do bj=bj..pack('>I7I7',bm[q][1],bm[q][2])end
J(a.b,G.H(a,0)..bj,G.m(a))
return true
end
`

const bucketDescriptor = `local h,n,r=j[g+1],j[g+2],j[g+3]
local bc,aB,S,bI=j[g+4],j[g+5],j[g+6],j[g+7]
if j[g]==0 then
local aj=bc*n
bI=aj%h
S=(aj-bI)/h
aj=r*n
aB=-aj%h
bc=(aj+aB)/h
end
`

const bucket = `local ae,c=w'bucket-value'
local Q,P,aK,bk,aW=w'bucket-flow'
local aq,aG,m=w('bucket-leases',Q,P)
local bG=w('bucket-adopt',Q,P,aK,bk,aW,aq,aG)
return{
ae=ae,
c=c,
Q=Q,
P=P,
aK=aK,
aW=aW,
aq=aq,
aG=aG,
m=m,
bG=bG,
}
`

const bucketStep = `local l,f,W=x,0,0
local e,d,t,k,o,ag,bX,m
if c then
local C=#c
local A,u,Z,T,N,ai
if C==12 then
A,u,Z,T,ai=am('>I3I4I3BB',c)
d,k,N,ai=0,0,1,ai*1000000
elseif C==28 then
A,u,d,Z,T,N,ai=am('>I3I4I3I5I3I5I5',c)
k=0
end
local en=T==h and N==n and ai==r
if en and A>=6291456 and A<10485504 and d<h then
e=(A-8388608)*4294967296+u
t=e+Z
else
aX=aX or cZ(x,pack,am)
e,d,t,k,T,N,ai,f,o=aX.ae(c,0)
end
if e then
if T~=h or N~=n or ai~=r then
e,d,t,k,o=aX.bG(e,d,t,k,T,N,ai,h,n,r,o)
ag=e
end
if e and t>x then l=t end
if o then
e,d,o=aX.aG(e,d,h,n,r,o,l)
end
end
end
local bO=l-bc
if not e then
e,d,k=bO,aB,0
elseif e<bO or(e==bO and d<=aB)then
e,d=bO,aB
if k>0 and l>=t+k then k=0 end
end
local ap=aM
if f>x then ap=0 end
while W<ap do
local ck,B=e+S,d+bI
if B>=h then ck,B=ck+1,B-h end
if ck>l or(ck==l and B>0)then break end
e,d,W=ck,B,W+1
end
if W>0 or ag then
m=e+bc
if d>aB then m=m+1 end
local Z,u=l-e,e%4294967296
if k>0 or f>0 or o or Z<0 or Z>=1099511627776 or h>=16777216 or r>=1099511627776 then
aX=aX or cZ(x,pack,am)
bX=aX.c(e,d,l,k,h,n,r,f,o)
if o then
m=aX.m(e,d,l,k,h,n,r,o)
elseif k>0 and l+k>m then
m=l+k
end
if f>m then m=f end
elseif n==1 and d==0 and Z<16777216 and h<256 and r<256000000 and r%1000000==0 then
bX=pack('>I3I4I3BB',8388608+(e-u)/4294967296,u,Z,h,r/1000000)
else
bX=pack('>I3I4I3I5I3I5I5',8388608+(e-u)/4294967296,u,d,Z,h,n,r)
end
end
`

const reply = `local dh,an=0,#KEYS
local aQ={}
for b=1,an do
ab[b]=ab[b]or''
aQ[b]=#ab[b]
end
for aw=1,#br do aQ[an+aw]=br[aw]end
for q=1,#aQ do
if aQ[q]>dh then dh=aQ[q]end
end
local H
if dh<256 and#aQ<=2000 then
H=string.char(1,unpack(aQ))
else
for q=1,#aQ do aQ[q]=pack('>I4',aQ[q])end
H=string.char(4)..table.concat(aQ)
end
for q=1,#bC do bC[q]=pack('>I7',bC[q])end
return H..table.concat(ab,'',1,an)..table.concat(bC)..pack('>I7',x)
`

const window = `local bE,cr,aO=w'window-value'
local bZ,ca,cm,bV=w('window-adopt',aO)
return function(c,g,aM)
local S,V,dE=j[g+1],j[g+2],j[g+5]
local f,W=0,0
local i,D,z,y,ag
if c then
i,D,z,y,f=bE(c)
if i then i,D,z,y,ag=bZ(i,D,z,y,g)end
end
if not(i and x<i)then
i,z,y=ca(i,z,y,g)
D=0
end
local aa,ak,K,bw,bo=cm(i,D,z,y,g)
local cw,ad=x-aa,V
if dE>0 and cw<dE then
if cw<0 then cw=0 end
local cx=math.floor(cw*j[g+6]/j[g+7])
if cx<1000000 then cx=1000000 end
if cx<ad then ad=cx end
end
if f>x then aM=0 end
while W<aM and K+S<=ad do
K,W=K+S,W+1
end
if W>0 then
D,z=ak+K,bw
y=bV(bo,D,V)
elseif not ag then
return 0
end
local m=aO(i,z,y)
if f>m then m=f end
return W,cr(i,D,z,y,f),m
end
`

const counter = `local bD,cf=w'counter-value'
local bY,bU,cn=w'counter-adopt'
return function(c,g,aM)
local S,V,s=j[g+1],j[g+2],j[g+3]
local f,W,I,z,af=0,0,0,s,0
local i,E,ag
if c then
i,E,I,z,af,f=bD(c)
if i then
i,E,I,z,af,ag=bY(i,E,I,z,af,g)
end
end
if not(i and x<i)then
i,E,I=bU(i,E,I,s)
z,af=s,0
end
local cG=V-cn(i,I,z,g)
if f>x then aM=0 end
while W<aM and E+S<=cG do
E,W=E+S,W+1
end
if W==0 and not ag then return 0 end
local m=i
if E>0 then m=i+z end
if f>m then m=f end
return W,cf(i,E,I,z,af,f),m
end
`

const log = `local G=...
local aJ,as,ch=G.aJ,G.as,G.ch
local bp,bW,ce=w('log-adopt',G)
local function dm(a,g,L,ac,cl,K,S)
local q=ch(a,as(a,L-1)+K+S-j[g+2],L)
if q<ac then cl=aJ(a,q)end
return cl+j[g+3]
end
local function cI(a,g,L,ac,cl,K)
local V=j[g+2]
local bS,bT=0,0
if V>K then bS=math.floor((V-K)/1000000)end
if K>0 then bT=cl+j[g+3]-x end
local cj=(bS+1)*1000000
if cj>V then return bS,bT,bT end
return bS,dm(a,g,L,ac,cl,K,cj)-x,bT
end
local function cP(a,g,S)
local V=j[g+2]
local l,L,K=bW(a,g)
if S>V-K then
if S>V then return 2,0,cI(a,g,L,a.C,a.v,K)end
return 1,dm(a,g,L,a.C,l,K,S)-x,cI(a,g,L,a.C,a.v,K)
end
local al=ce(a,g,L,l,S)
local ac=a.C
if al.bL then ac=ac-1 end
local bS,em,bT=cI(a,g,L,ac,l,K+S)
return 0,0,bS,em,bT,al
end
local function dg(a,g)
local O,L,K=bW(a,g)
return cI(a,g,L,a.C,a.v,K)
end
return bp,cP,dg
`

export const adjustProgram: Program = {
  sha1: 'd3d20a3c1b5fe16fb15bdcc2d0b6dee81f03bcfe',
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
local aF=j[2]
local ae,J,aC,remove,Y=w'state'
local aA=w('drop',J,remove,Y)
local cs=9000000000000000
local function dj(b,g,aY)
local bl,cb=w'bucket-value'
local Q,P,aK,bk,aW=w'bucket-flow'
local aq,aG,bv=w('bucket-leases',Q,P)
`,
      bucketDescriptor,
      `local l,f=x,0
local c=ae(b)
local e,d,t,k,o,ag
if c then
local T,N,ai
e,d,t,k,T,N,ai,f,o=bl(c,0)
if f==cs then return true end
if e and(T~=h or N~=n or ai~=r)then
local cJ=w('bucket-adopt',Q,P,aK,bk,aW,aq,aG)
e,d,t,k,o=cJ(e,d,t,k,T,N,ai,h,n,r,o)
ag=true
end
if e and t>x then l=t end
end
if aY>0 and aF>=0 and aF<=l-bc then
if not ag then return end
if not e then return aA(b,f)end
else
if o then e,d,o=aG(e,d,h,n,r,o,l)end
local u=l-bc
if not e then
e,d,k=u,aB,0
elseif e<u or(e==u and d<=aB)then
e,d=u,aB
if k>0 and l>=t+k then k=0 end
end
local ad,bA=l+bc,0
if aB>0 then ad,bA=ad-1,h-aB end
local bu=aW(h,n,r,l)
if ad>bu or(ad==bu and bA>0)then ad,bA=bu,0 end
if e>ad or(e==ad and d>bA)then ad,bA=e,d end
local R=d-aY*bI
local B=R%h
e,d,t=e-aY*S+(R-B)/h,B,l
if aY<0 and(e>ad or(e==ad and d>bA))then e,d=ad,bA end
if o then e,d=P(e,d,h,n,r-aq(o),l)end
end
local m=e+bc
if d>aB then m=m+1 end
if k>0 and t+k>m then m=t+k end
if o then
m=bv(e,d,t,k,h,n,r,o)
elseif m<=l then
return aA(b,f)
end
if f>m then m=f end
J(b,cb(e,d,t,k,h,n,r,f,o),m)
end
local function dR(b,g,aY)
local bE,cr,aO=w'window-value'
local bZ,ca,cm,bV=w('window-adopt',aO)
local ba,V=j[g+1],j[g+2]
local f=0
local c=ae(b)
local i,D,z,y,ag
if c then
local aL
i,D,z,y,f=bE(c)
if f==cs then return true end
aL=i
if i then i,D,z,y,ag=bZ(i,D,z,y,g)end
if aL and not i then aA(b,f)end
end
local ac,bw,bo,ay=i,z,y,D
if not(i and x<i)then
ac,bw,bo=ca(i,z,y,g)
ay=0
end
local aa,ak,K
aa,ak,K,bw,bo=cm(ac,ay,bw,bo,g)
if aY>0 then
if K>0 and not(aF>=0 and aF<aa)then
ay,ag=ak+K-math.min(ba,K),true
if ay==0 and bo<4 then return aA(b,f)end
i,D,z,y=ac,ay,bw,bV(bo,ay,V)
end
elseif K<2*V then
ay,ag=ak+math.min(2*V,K+ba),true
i,D,z,y=ac,ay,bw,bV(bo,ay,V)
end
if not ag then return end
J(b,cr(i,D,z,y,f),math.max(aO(i,z,y),f))
end
local function dP(b,g,aY)
local bD,cf=w'counter-value'
local bY,bU,cn=w'counter-adopt'
local ba,V,s=j[g+1],j[g+2],j[g+3]
local f=0
local c=ae(b)
local i,E,I,z,af,ag
if c then
local aL
i,E,I,z,af,f=bD(c)
if f==cs then return true end
aL=i
if i then
i,E,I,z,af,ag=bY(i,E,I,z,af,g)
end
if aL and not i then aA(b,f)end
end
local aR=i and x<i
local bd,cB,cC=bU(i,E,I,s)
if not aR then z,af=s,0 end
if aY<0 then
local cG=2*V-cB-cn(bd,cC,z,g)
if cG>0 then
i,E,I,ag=bd,cB+math.min(cG,ba),cC,true
end
elseif not(aF>=0 and aF<bd-2*z)then
local aa=bd-z
local cD,cW=math.min(cB,ba),0
if aF>=0 and aF<aa then cD=0 end
if aF<aa then cW=math.min(cC,ba-cD)end
if cD+cW>0 then
i,E,I,ag=bd,cB-cD,cC-cW,true
if E+I==0 then return aA(b,f)end
end
end
if not ag then return end
local m=i
if E>0 then m=i+z end
J(b,cf(i,E,I,z,af,f),math.max(m,f))
end
local function dQ(b,g,aY)
local G=w('log-value',J,aC)
local bp,bW,ce=w('log-adopt',G)
local ax=G.ap(b)
if ax.f==cs then return true end
local a=bp(ax,g)
if ax.aL and not a.aL then aA(b,a.f)end
local l,L,K=bW(a,g)
if aY>0 then
local el=w('log-refund',G,aA,J,aF)
if el(a,L,l-j[g+3],j[g+1])then return end
else
local aP=math.min(j[g+1],2*j[g+2]-K)
if aP>0 then G.al(a,ce(a,g,L,l,aP))end
end
if a.cQ then G.cH(a)end
end
local aV={[0]=dj,dR,dP,dQ,dj}
local bB={}
for q=1,j[3]do
local g=j[2+2*q]
if aV[j[g]](q,g,j[3+2*q])then bB[#bB+1]=q end
end
return bB
`,
    ].join(''),
}

export const blockProgram: Program = {
  sha1: 'f50cd8377c39b3a556544c78b73ad6f0209d64b1',
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
local ae,J,aC,remove,O,by=w'state'
local ar,aT=w'block-value'
local db=w'state-until'
local function et(c)
local bl,cb=w'bucket-value'
local Q,P=w'bucket-flow'
local aq,aG,bv=w('bucket-leases',Q,P)
local e,d,t,k,h,n,r,O,o=bl(c,0)
if not o then return nil,''end
local l=x
if t>x then l=t end
e,d,o=aG(e,d,h,n,r,o,l)
if not o then return nil,''end
e,d=P(-math.huge,0,h,n,r-aq(o),l)
c=cb(e,d,l,k,h,n,r,0,o)
return bv(e,d,l,k,h,n,r,o),c
end
local s=j[2]
local bB={}
local function dS(b)
local G=w('log-value',J,aC)
local a=G.ap(b)
if s<0 or not a.aL then return a.f,''end
a.f=0
if s>0 then a.f=x+s end
call('SETRANGE',KEYS[b],0,G.H(a,a.X))
aC(b,G.m(a))
end
for b=1,#KEYS do
local ao,c=by and by(b),nil
if ao then c=ae(b)else c=redis.pcall('GETRANGE',KEYS[b],0,2047)end
if type(c)~='string'then c=''end
if#c==2048 and string.byte(c)~=2 then c=call('GET',KEYS[b])end
local f,F,m=0,c,nil
if string.byte(c)==2 then
f,F=dS(b)
elseif c~=''then
f,F=ar(c)
m=db(c)
if f==9000000000000000 then
f=0
if s>=0 then bB[#bB+1],F=b,nil end
elseif not m and F~=''then
f,F=0,''
end
end
if F then
if s<0 then
m,F=et(F)
elseif s>0 then
f=x+s
else
f=0
end
if f>0 then
if F~=''then
J(b,aT(f)..F,math.max(f,m))
elseif f>x then
J(b,aT(f),f)
elseif ao then
call('HSET',KEYS[b],ao,aT(f))
else
call('SET',KEYS[b],aT(f),'KEEPTTL')
end
elseif F~=''then
J(b,F,m)
elseif c~=''or s<0 then
remove(b)
end
end
end
return bB
`,
    ].join(''),
}

export const bucketsProgram: Program = {
  sha1: '16e9fdefd6dcb584424c1ef3500b64d17e36e769',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,am,format=struct.pack,struct.unpack,string.format
local bH=call('TIME')
local x=bH[1]*1000000+bH[2]
local aX
local function cZ(x,pack,am)
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
local h,n,r=ARGV[1]+0,ARGV[2]+0,ARGV[3]+0
local aj=ARGV[4]*n
local bI=aj%h
local S=(aj-bI)/h
aj=r*n
local aB=-aj%h
local bc=(aj+aB)/h
local an,dU,Y=#KEYS,#ARGV>5,ARGV[5]+0
local ab={}
if an==1 then
ab=call('MGET',KEYS[1])
elseif an>1 then
ab=call('MGET',unpack(KEYS))
end
local br,bC,aM={},{},1
for b=1,an do
local c=ab[b]
if dU then aM=ARGV[5+b]+0 end
`,
      bucketStep,
      `if bX then call('SET',KEYS[b],bX,'PXAT',format('%d',(m+Y)/1000))end
br[b]=W
end
`,
      reply,
    ].join(''),
}

export const consumeProgram: Program = {
  sha1: '764d9264849c61eb1a89284f619d61eb55734843',
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
local aV,G={},nil
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
local function aI(c,g,aM)
`,
      bucketDescriptor,
      bucketStep,
      `return W,bX,m
end
aV[0],aV[4]=aI,aI
end
return aV[dc]
end
local bf=j[3]
local ae,J,aC
if ARGV[2]or bF~=0 or bf<#KEYS or bf>4000 then ae,J,aC=w'state'end
local ab={}
if ARGV[2]and ARGV[2]~=''then
for b=1,bf do ab[b]=ae(b)end
elseif bf>0 then
ab=call('MGET',unpack(KEYS,1,math.min(bf,4000)))
for b=4001,bf do ab[b]=ae(b)end
end
local be,m={},{}
local bg,C={},0
local cN,cM={},j[2]%2
for q=5+j[4]-(j[2]-cM)/2,4+j[4]do cN[j[q]]=true end
local br={}
local function di(v,aH,H,t)
for q=v,v+2*aH-2,2 do
local b,g=j[q],j[q+1]
if j[g]==3 then
bg[H+3],bg[H+4],bg[H+5]=G.es(t[b],g)
H=H+5
end
end
end
local function ea(v,aH)
local ap=true
local an,f,t,ay,dk={},{},{},{},{}
local H=C
for q=v,v+2*aH-2,2 do
local b,g=j[q],j[q+1]
if j[g]==3 then
if not t[b]then t[b]=G.bG(G.dx(b),g)end
local a,S=t[b],(ay[b]or 0)+j[g+1]
ay[b]=S
local cX
cX,bg[C+2],bg[C+3],bg[C+4],bg[C+5],dk[b]=
G.dV(a,g,S)
bg[C+1]=cX
C=C+5
if cX>0 or a.f>x then ap=false end
elseif ap then
local cv=an[b]or be[b]or ab[b]
local W,c,bN=(aV[j[g]]or cT(j[g]))(cv,g,1)
if W==0 then ap=false else an[b],f[b]=c,bN end
end
end
if ap then
for q=v,v+2*aH-2,2 do
if cN[j[q]]and not ab[j[q]]then return 0 end
end
if cM==0 then di(v,aH,H,t)end
for b,c in pairs(an)do be[b],m[b]=c,f[b]end
for b,al in pairs(dk)do G.al(b,t[b],al)end
return 1
end
di(v,aH,H,t)
for q=v,v+2*aH-2,2 do
local b,g=j[q],j[q+1]
if j[g]~=3 then
local O,c,bN=(aV[j[g]]or cT(j[g]))(be[b]or ab[b],g,0)
if c then be[b],m[b]=c,bN end
end
end
return 0
end
if bf<#KEYS then
local aZ,ap=w('log-value',J,aC),{}
local bp,cP,dg=w('log',aZ)
G={
dx=function(b)
if not ap[b]then ap[b]=aZ.ap(b)end
return ap[b]
end,
bG=bp,
dV=cP,
es=dg,
al=function(b,a,al)
ap[b]=a
aZ.al(a,al)
end,
cH=function()
for O,a in pairs(ap)do
if a.cQ then aZ.cH(a)end
end
end,
}
for b=bf+1,#KEYS do
local a=G.dx(b)
ab[b]=(a.aL or a.f>0)and a.f
end
end
local v,ac=5+j[4],#j
while v<=ac do
local aH=j[v]
local L,dl,g,aM=1,1,0,1
if aH==0 then g,L,dl,aM=j[v+1],j[v+2],j[v+3],j[v+4]end
for b=L,dl do
local W,c,bN
if aH==0 then
W,c,bN=(aV[j[g]]or cT(j[g]))(be[b]or ab[b],g,aM)
if cN[b]and not ab[b]then
W=0
elseif c then
be[b],m[b]=c,bN
end
else
W=ea(v+1,aH)
end
br[#br+1]=W
end
v=v+5
if aH>0 then v=v-4+2*aH end
end
if cM==1 then
for b,c in pairs(be)do
if J then
J(b,c,m[b])
else
call('SET',KEYS[b],c,'PXAT',math.floor(m[b]/1000))
end
end
if G then G.cH()end
end
for b=bf+1,#KEYS do ab[b]=ab[b]and pack('>I7',ab[b])end
local bC=bg
`,
      reply,
    ].join(''),
}

export const leaseProgram: Program = {
  sha1: '86b22d06d1961f4753cc68f9f1e2c08f55095a42',
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
local ae,J,O,remove,Y=w'strings'
local aA=w('drop',J,remove,Y)
local aI=w'bucket'
local Q,P,aK,aq=aI.Q,aI.P,aI.aK,aI.aq
local dN=64
local function eu(o,ah)
local cv=#o+1
for q,eg in ipairs(o)do
if eg[4]>ah[4]then
cv=q
break
end
end
table.insert(o,cv,ah)
return o
end
local function dZ(b,c,v)
local h,n,r=j[v],j[v+1],j[v+2]
local dr,ad,dq,dI,ed=j[v+3],j[v+4],j[v+5],j[v+6],j[v+7]
local l,f=x,0
local e,d,t,k,o,cd
if c then
local T,N,ai
e,d,t,k,T,N,ai,f,o=aI.ae(c,0)
if e and(T~=h or N~=n or ai~=r)then
e,d,t,k,o=aI.bG(e,d,t,k,T,N,ai,h,n,r,o)
cd=true
end
if e and t>x then l=t end
end
if f>x then ad=0 end
local bQ,av={},nil
local da=false
if o then
local eq,ep,dJ=aI.aG(e,d,h,n,r,o,l)
for O,ah in ipairs(dJ or{})do
if ah[1]==dq then av=ah else bQ[#bQ+1]=ah end
end
da=av and dI<=av[2]
if not da then e,d,o,cd=eq,ep,dJ,true end
end
local bt=0
if not da then
local aR,dH,df=0,0,l+ed
if av then
aR=math.min(j[v+8],av[3])
dH=math.min(j[v+9],av[3]-aR)
df=math.max(df,av[4])
local cK,B=Q(h,n,dH,0)
d=d-B
if d<0 then cK,d=cK+1,d+h end
local aD=aq(bQ)+aR
e,d=P(e-cK,d,h,n,r-aD,l)
if t<l then t=l end
o=bQ
end
local cy=0
if ad>=dr and(av or#bQ<dN)then
cy=r
if e then
local dY,cR=P(e,d,h,n,r,l)
cy=aK(dY,cR,h,n,l)
end
end
if cy>=dr then bt=math.min(ad,cy)end
if bt>0 then
local u,bx=P(-math.huge,0,h,n,r,l)
if not e then
e,d,k=u,bx,0
elseif e<u or(e==u and d<=bx)then
e,d=u,bx
if k>0 and l>=t+k then k=0 end
end
local z,B=Q(h,n,bt,d)
e,d,t=e+z,B,l
end
if aR+bt>0 then o=eu(bQ,{dq,dI,aR+bt,df})end
cd=cd or bt>0
end
if cd then
if o and#o==0 then o=nil end
if not e then
aA(b,f)
else
local m=aI.m(e,d,t,k,h,n,r,o or{})
if f>m then m=f end
J(b,aI.c(e,d,t,k,h,n,r,f,o),m)
end
end
return bt
end
local ab,bC,br={},{},{}
for q=1,#KEYS do
ab[q]=ae(q)
bC[q]=dZ(q,ab[q],3+(q-1)*j[2])
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
  sha1: 'fc49abccab111ad1e8be83ebe3d230edfc625b46',
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
      `end
end
local ae,J,O,remove,Y=w'state'
local an=#KEYS
local aU={}
for b=1,an do
local c=ae(b)
aU[b],aU[an+b]=c,c and redis.sha1hex(c)or''
end
if#j==1 then
aU[2*an+1]=x
return aU
end
for b=1,an do
if aU[an+b]~=j[4*b-2]then return 0 end
end
local aA=w('drop',J,remove,Y)
local O,O,bb=w'block-value'
for b=1,an do
local c=string.gsub(j[4*b-1],'..',function(dW)
return string.char(tonumber(dW,16))
end)
local f,m=j[4*b],j[4*b+1]
if c==''then
aA(b,f)
else
if string.byte(c)~=2 then c=bb(c,f)end
J(b,c,math.max(f,m))
end
end
return 1
`,
    ].join(''),
}
