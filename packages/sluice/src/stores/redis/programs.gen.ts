// Made from the programs beside this file by `npm run generate`; edit those, not this.

/** A program: its digest, and its text, which is put together only for a server that does not know it. */
export interface Program {
  readonly sha1: string
  readonly source: () => string
}

const clock = `local call,KEYS=redis.call,KEYS
local pack,ab=struct.pack,struct.unpack
local d=cjson.decode(ARGV[1])
local cl=d[1]
local bv=cl==0 and call('TIME')
local q=bv and bv[1]*1000000+bv[2]or cl
`

const state = `local fr,fp,aL,fs,ag,cJ=s'strings'
local dK=ARGV[2]and ARGV[2]~=''and cjson.decode(ARGV[2])
if not dK then
return fr,fp,aL,fs,ag
end
local cI,ee=s'packed-value'
local function cv(b)
if dK[2*b]<0 then return nil end
return pack('>I4I4',dK[2*b-1],dK[2*b])
end
local function U(b)
local aQ=cv(b)
if not aQ then return fr(b)end
local af=redis.pcall('HMGET',KEYS[b],aQ,'')
if af.err then return false end
return af[1]and cI(af[1],af[2]or'')
end
local function gc(N,aQ,a,j)
local K=redis.pcall('HGET',N,'')
if type(K)=='table'then call('DEL',N)end
if type(K)~='string'or#K<6 or(#K-6)%13>0 then K=false end
local cq,bj=ee(a,K and string.sub(K,7)or'')
local I=K and ab('>I6',K)or 0
local bf
if cl==0 and I*1000>=j then
if#K==6+#bj then
bf=call('HSET',N,aQ,cq)
else
bf=call('HSET',N,aQ,cq,'',string.sub(K,1,6)..bj)
end
else
local eo=j+math.max(0,j-q)/4
bf=call('HSET',N,aQ,cq,'',pack('>I6',math.max(I,math.floor(eo/1000)))..bj)
if cl~=0 and K then
call('PEXPIREAT',N,cJ(eo),'GT')
else
call('PEXPIREAT',N,cJ(eo))
end
end
if bf>0 and cl==0 and q%16==0 then
s('sweep',cI,ag)(N)
end
end
local function E(b,a,j)
local aQ=cv(b)
if aQ then return gc(KEYS[b],aQ,a,j+ag)end
fp(b,a,j)
end
local function remove(b)
local aQ=cv(b)
if not aQ then
fs(b)
elseif type(redis.pcall('HGET',KEYS[b],aQ))~='table'then
call('HDEL',KEYS[b],aQ)
end
end
return U,E,aL,remove,ag,cv
`

const strings = `local ag=(ARGV[3]or 0)+0
local function U(b)
local a=redis.pcall('GET',KEYS[b])
return type(a)=='string'and a
end
local function cJ(j)
if cl==0 then return math.floor(j/1000)+1 end
local k=call('TIME')
return k[1]*1000+math.ceil(math.max(0,j-q)/1000)+60000
end
local function E(b,a,j)
call('SET',KEYS[b],a,'PXAT',cJ(j+ag))
end
local function aL(b,j)
call('PEXPIREAT',KEYS[b],cJ(j+ag))
end
local function remove(b)
call('DEL',KEYS[b])
end
return U,E,aL,remove,ag,cJ
`

const packedValue = `local function cI(a,K)
local G=#a
if G~=13 and G~=14 then return a end
local C,u,W,p=ab('>I3I4I5B',a)
if C<6291456 or C>=10485760 or#K<6+13*p or p<1 then return a end
local i,l,o=ab('>I3I5I5',K,13*p-6)
local h=0
if G==14 then h=string.byte(a,14)end
return pack('>I3I4I3I5I3I5I5',C,u,h,W,i,l,o)
end
local function ee(a,bj)
if#a~=28 then return a,bj end
local C,u,h,W=ab('>I3I4I3I5',a)
if C<6291456 or C>=10485760 or h>255 then return a,bj end
local bI,p=string.sub(a,16),0
for m=1,#bj,13 do
if string.sub(bj,m,m+12)==bI then p=(m+12)/13 end
end
if p==0 then
if#bj>51 then return a,bj end
bj=bj..bI
p=#bj/13
end
local cq=pack('>I3I4I5B',C,u,W,p)
if h>0 then cq=cq..string.char(h)end
return cq,bj
end
return cI,ee
`

const sweep = `local cI,ag=...
local ao=s'block-value'
local ey=s'state-until'
return function(N)
local bt=call('HRANDFIELD',N,128,'WITHVALUES')
local K=call('HGET',N,'')
for p=1,#bt,2 do
local a=cI(bt[p+1],K)
local g=ao(a)
if bt[p]~=''and(ey(a)or 0)+ag<=q and g+ag<=q then call('HDEL',N,bt[p])end
end
end
`

const blockValue = `local function ao(a)
local g,L=0,a
if#a>=7 then
local C,u=ab('>I3I4',a)
if C>=14680064 then g,L=(C-14680064)*4294967296+u,string.sub(a,8)end
end
if string.byte(L)==1 then return 9000000000000000,''end
return g,L
end
local function bn(g)
local u=g%4294967296
return pack('>I3I4',14680064+(g-u)/4294967296,u)
end
local function bo(a,g)
if g+60000000<=q then return a end
return bn(g)..a
end
return ao,bn,bo
`

const stateUntil = `local ao=s'block-value'
local cj=s'bucket-value'
local Y,ar=s'bucket-flow'
local F,F,ct=s('bucket-leases',Y,ar)
local cC,F,bC=s'window-value'
local cA=s'counter-value'
local cB=s'record-value'
return function(a)
local f,h,y,r,i,l,o,F,v=cj(a,0)
if f then return ct(f,h,y,r,i,l,o,v or{})end
local n,F,D,J=cC(a)
if n then return bC(n,D,J)end
local bp,P,F,z=cA(a)
if bp and P>0 then return bp+z end
local F,eV=cB(a)
if eV then return eV+60000000 end
local F,L=ao(a)
if string.byte(L)==3 then return(ab('>I7',L,2))end
return bp
end
`

const bucketValue = `local ao,F,bo=s'block-value'
local function fT(h,y,r,i,l,o)
if h>=i or y>9007199254740991 or r>3200000000000000 then return false end
if l<1 or o<1 or l>9007199254 then return false end
return i*(o/1000000+2)<=9007199254740992 and o/i*l<=3200000000000000
end
local function cj(a,g)
local G=#a
local C,u,h,W,y,r,i,l,o
if G==12 then
C,u,W,i,o=ab('>I3I4I3BB',a)
h,r,l,o=0,0,1,o*1000000
elseif G==28 then
C,u,h,W,i,l,o=ab('>I3I4I3I5I3I5I5',a)
r=0
elseif G>=49 and(G-49)%28==0 then
C,u,h,y,r,i,l,o=ab('>I3I4I7I7I7I7I7I7',a)
end
if C and C>=6291456 and C<10485760 then
local f,v=(C-8388608)*4294967296+u,nil
y=y or f+W
if not fT(h,y,r,i,l,o)then return nil,nil,nil,nil,nil,nil,nil,0 end
for m=50,G,28 do
v=v or{}
v[#v+1]={ab('>I7I7I7I7',a,m)}
end
return f,h,y,r,i,l,o,g,v
end
local eA,L=ao(a)
if eA==0 or g>0 then return nil,nil,nil,nil,nil,nil,nil,0 end
if L==''then return nil,nil,nil,nil,nil,nil,nil,eA end
return cj(L,eA)
end
local function cZ(f,h,y,r,i,l,o,g,v)
local u,W=f%4294967296,y-f
local C=8388608+(f-u)/4294967296
local a
if r>0 or v or W<0 or W>=1099511627776 or i>=16777216 or o>=1099511627776 then
a=pack('>I3I4I7I7I7I7I7I7',C,u,h,y,r,i,l,o)
for F,aD in ipairs(v or{})do a=a..pack('>I7I7I7I7',aD[1],aD[2],aD[3],aD[4])end
elseif l==1 and h==0 and W<16777216 and i<256 and o<256000000 and o%1000000==0 then
a=pack('>I3I4I3BB',C,u,W,i,o/1000000)
else
a=pack('>I3I4I3I5I3I5I5',C,u,h,W,i,l,o)
end
if g>0 then return bo(a,g)end
return a
end
return cj,cZ
`

const bucketFlow = `local function Y(i,l,bG,x)
local cm=l*1000000
local dv,fd=cm%i,l%i
local H=bG%1000000
local bB=(bG-H)/1000000
local ak=x+bB*dv+H*fd
local w=ak%i
return bB*((cm-dv)/i)+H*((l-fd)/i)+(ak-w)/i,w
end
local function fm(i,l,fy,x,A)
local M=0
if A<=0 then return M end
local el=(A-x/i)/(l*fy/i)*(1-2^-50)
if el>0 then M=el-el%1 end
while true do
local aJ,w=Y(i,l,(M+1)*fy,x)
if aJ>A or(aJ==A and w>0)then return M end
M=M+1
end
end
local function ar(f,h,i,l,bG,k)
if bG<0 then bG=0 end
local A,w=Y(i,l,bG,0)
local u,cu=k-A,0
if w>0 then u,cu=u-1,i-w end
if f>u or(f==u and h>=cu)then return f,h end
return u,cu
end
local function aM(f,h,i,l,k)
local bB=fm(i,l,1000000,h,k-f)
local aJ,w=Y(i,l,bB*1000000,h)
f,h=f+aJ,w
local H=fm(i,l,1,h,k-f)
return bB*1000000+H,f,h,H
end
local function bz(i,l,bB)
local cm=l*1000000
local h=cm%i
local cf=h%131072
local bM=bB*((h-cf)/131072)
local B=bM%i
local da=B*131072+bB*cf
local w=da%i
return bB*((cm-h)/i)+(bM-B)/i*131072+(da-w)/i,w
end
local function bL(i,l,o,k)
return math.min(k+3155760000000000,9007199254740990-(Y(i,l,o,0)))
end
return Y,ar,aM,bz,bL
`

const bucketLeases = `local Y,ar=...
local function aO(v)
local bi=0
for F,aD in ipairs(v)do bi=bi+aD[3]end
return bi
end
local function aW(f,h,i,l,o,v,k)
local bi,w=aO(v),{}
for F,aD in ipairs(v)do
if aD[4]<=k and#w==0 then
f,h=ar(f,h,i,l,o-bi,aD[4])
bi=bi-aD[3]
else
w[#w+1]=aD
end
end
if#w==0 then return f,h,nil end
f,h=ar(f,h,i,l,o-bi,k)
return f,h,w
end
local function ct(f,h,y,r,i,l,o,v)
local bi,aI=aO(v),math.min(math.max(y,f)+r,9007199254740991)
for F,aD in ipairs(v)do
f,h=ar(f,h,i,l,o-bi,aD[4])
bi=bi-aD[3]
end
local aJ,w=Y(i,l,o,h)
local j=f+aJ
if w>0 then j=j+1 end
if r>0 and aI>j then j=aI end
return j
end
return aO,aW,ct
`

const windowValue = `local ao,F,bo=s'block-value'
local function cC(a)
local g,L=0,a
if#a~=21 then g,L=ao(a)end
if#L==21 then
local C,u,M,J,z=ab('>I3I4I7BI6',L)
z=J%16*281474976710656+z
if C>=10485760 and C<12582912 and z>0 then
return(C-10485760)*4294967296+u,M,z,math.floor(J/16),g
end
end
if L==a then g,L=ao(a)end
return nil,nil,nil,nil,L==''and g or 0
end
local function dx(n,M,z,J,g)
local u,cE=n%4294967296,z%281474976710656
local ez=J*16+(z-cE)/281474976710656
local a=pack('>I3I4I7BI6',10485760+(n-u)/4294967296,u,M,ez,cE)
if g>0 then return bo(a,g)end
return a
end
local function bC(n,z,J)
if J>2 then return n+z end
return n+math.ceil(z/(J==2 and 4 or J==1 and 16 or 64))
end
return cC,dx,bC
`

const counterValue = `local ao,F,bo=s'block-value'
local function cA(a)
local g,L=0,a
if#a~=28 then g,L=ao(a)end
if#L==28 then
local C,u,P,R,aB,z=ab('>I3I4I7I7BI6',L)
z=aB%16*281474976710656+z
if C>=12582912 and C<14680064 and z>0 then
return(C-12582912)*4294967296+u,P,R,z,math.floor(aB/16),g
end
end
if L==a then g,L=ao(a)end
return nil,nil,nil,nil,nil,L==''and g or 0
end
local function dg(n,P,R,z,aB,g)
local u,cE=n%4294967296,z%281474976710656
local ez=aB*16+(z-cE)/281474976710656
local a=pack('>I3I4I7I7BI6',12582912+(n-u)/4294967296,u,P,R,ez,cE)
if g>0 then return bo(a,g)end
return a
end
return cA,dg
`

const recordValue = `local eE,dy,eF=1099511627776,549755813888,4503599627370496
local function cB(a)
local bE,G=a and string.byte(a),a and#a
if not bE or bE<8 or bE>15 or G<13 then return nil end
local aS=bE%2
local bc,X=bE%4>1,bE>11
local av=bc and'I7'or'I5'
local m,A,x=ab('>I7'..av,a,2)
local bw='>I4'..av..av
if X then bw=bw..av..av end
local fw=4+(X and 4 or 2)*(bc and 7 or 5)
if(G-x+1)%fw>0 then return nil end
local H={}
for B=x,G,fw do
local au,t,Z,am,ci=ab(bw,a,B)
if not X then am,ci=t,0 end
if Z>0 then Z=m+Z-(bc and eF or dy)end
H[#H+1]={au,t,am,ci,Z}
end
return m,m+A,aS,H
end
local function dq(m,j,aS,H)
local bc,X=j-m>=eE,false
for F,O in ipairs(H)do
local t,am,ci,Z=O[2],O[3],O[4],O[5]
if am~=t or ci>0 then X=true end
if math.max(t,am,ci)>=eE or Z~=0 and(Z<=m-dy or Z>=m+dy)then bc=true end
end
local av=bc and'I7'or'I5'
local bw='>I4'..av..av
local a=pack('>BI7'..av,8+aS+(bc and 2 or 0)+(X and 4 or 0),m,j-m)
for F,O in ipairs(H)do
local Z=O[5]
if Z~=0 then Z=Z-m+(bc and eF or dy)end
a=a..pack(bw,O[1],O[2],Z)
if X then a=a..pack('>'..av..av,O[3],O[4])end
end
return a
end
return cB,dq
`

const drop = `local E,remove,ag=...
local F,bn=s'block-value'
return function(b,g)
if g>q then return E(b,bn(g),g)end
if ag>0 then return E(b,bn(1),q)end
remove(b)
end
`

const bucketChange = `local U,E,ai=...
local cj,cZ=s'bucket-value'
local Y,ar,aM,bz,bL=s'bucket-flow'
local aO,aW,ct=s('bucket-leases',Y,ar)
local function co(b,i,l,o,aG,as,gp,ex)
local k,g=q,0
local a=U(b)
local f,h,y,r,v,aC
if a then
local ah,ad,an
f,h,y,r,ah,ad,an,g,v=cj(a,0)
if g==9000000000000000 then return true end
if f and(ah~=i or ad~=l or an~=o)then
local dZ=s('bucket-adopt',Y,ar,aM,bz,bL,aO,aW)
f,h,y,r,v=dZ(f,h,y,r,ah,ad,an,i,l,o,v)
aC=true
end
if f and y>q then k=y end
end
if v then
aC=aC or gp
f,h,v=aW(f,h,i,l,o,v,k)
end
local x,dE,aI,u=f,h,r,k-aG
if not f then
x,dE,aI=u,as,0
elseif f<u or(f==u and h<=as)then
x,dE=u,as
if r>0 and k>=math.max(y,f)+r then aI=0 end
end
local aX,A,cT=ex(x,dE,k,v)
if not aX then
if not aC then return end
if not f then return ai(b,g)end
else
f,h,r=x,dE,aI
local at,cx=k+aG,0
if as>0 then at,cx=at-1,i-as end
local bF=bL(i,l,o,k)
if at>bF or(at==bF and cx>0)then at,cx=bF,0 end
if f>at or(f==at and h>cx)then at,cx=f,h end
local ak=h-aX*cT
local w=ak%i
f,h,y=f-aX*A+(ak-w)/i,w,k
if aX<0 and(f>at or(f==at and h>cx))then f,h=at,cx end
if v then f,h=ar(f,h,i,l,o-aO(v),k)end
end
local j=f+aG
if h>as then j=j+1 end
if r>0 then j=math.max(j,math.min(math.max(y,f)+r,9007199254740991))end
if v then
j=ct(f,h,y,r,i,l,o,v)
elseif j<=k then
return ai(b,g)
end
if g>j then j=g end
E(b,cZ(f,h,y,r,i,l,o,g,v),j)
end
return co,Y,aM,bz
`

const bucketAdopt = `local Y,ar,aM,bz,bL,aO,aW=...
local function dZ(f,h,y,r,ah,ad,an,i,l,o,v)
local k=q
if y>q then k=y end
if v then
f,h,v=aW(f,h,ah,ad,an,v,k)
end
local eS,ek=Y(ah,ad,an,0)
local aH,fM=Y(ah,ad,an,h)
local g=f+aH
if fM>0 then g=g+1 end
if r>0 then g=math.max(g,math.max(y,f)+r)end
if g<=k then return nil end
local dJ=eS
if ek>0 then dJ=eS+1 end
f,h=ar(f,h,ah,ad,an,k)
local dh=0
if f>k or(f==k and h>0)then
local cm=ad*1000000
local dv=cm%ah
dh=math.min(9007199256,math.floor((f-k+1)/((cm-dv)/ah+dv/ah))+1)
local E,gd=bz(ah,ad,dh)
f,h=f-E,h-gd
if h<0 then f,h=f-1,h+ah end
end
local bG,H
bG,f,h,H=aM(f,h,ah,ad,k)
local O=(k-f)*ah-h-H*ad
local ag=0
if dh==0 and bG>=o then
bG=o
elseif O>0 then
local cf=l%131072
local bM=O*((l-cf)/131072)
local da=(bM%ad)*131072+O*cf
ag=(bM-bM%ad)/ad*131072+(da-da%ad)/ad
end
local A,cT=Y(i,l,bG,0)
local ea=cT+ag
if r>dJ then dJ=r end
f,h=k-A-(ea+(-ea)%i)/i,(-ea)%i
if dh>0 then
local fX,fY=bz(i,l,dh)
f,h=f+fX,h+fY
if h>=i then f,h=f+1,h-i end
end
local bF=bL(i,l,o,k)
if f>bF or(f==bF and h>0)then f,h=bF,0 end
if v then
f,h=ar(f,h,i,l,o-aO(v),k)
end
return f,h,k,dJ,v
end
return dZ
`

const windowChange = `local U,E,ai=...
local cC,dx,bC=s'window-value'
local cW,cY,dp,dw=s('window-adopt',bC)
return function(b,e,fG)
local aj=d[e+2]
local g=0
local a=U(b)
local n,M,A,J,aC
if a then
local bA
n,M,A,J,g=cC(a)
if g==9000000000000000 then return true end
bA=n
if n then n,M,A,J,aC=cW(n,M,A,J,e)end
if bA and not n then ai(b,g)end
end
local I,bc,cF,aA=n,A,J,M
if not(n and q<n)then
I,bc,cF=cY(n,A,J,e)
aA=0
end
local ap,aK,Q
ap,aK,Q,bc,cF=dp(I,aA,bc,cF,e)
local al=fG(Q,ap)
if al~=0 then
aA,aC=aK+Q-al,true
if al>0 and aA==0 and cF<4 then return ai(b,g)end
n,M,A,J=I,aA,bc,dw(cF,aA,aj)
end
if not aC then return end
E(b,dx(n,M,A,J,g),math.max(bC(n,A,J),g))
end
`

const windowAdopt = `local bC=...
local function eR(e,k)
local D=d[e+3]
if d[e+4]==1 then return k+D end
local dS=k-d[e+8]
return dS-dS%D+D+d[e+8]
end
local function cW(n,M,z,J,e)
local D=d[e+3]
if z==D and J<5 then return n,M,z,J,false end
if q>=n then
if q>=bC(n,z,J)then return nil end
return n,M,z,J,false
end
if J==6 then
if D<=z then return n,M,z,J,false end
return n,9007199254740991,D,4,true
end
if z==D then return n,M,z,4,true end
if D<z and J>=4 then return n,M,z,J,false end
local I=eR(e,q)
if D>z and d[e+4]==1 then
I=n-z+D
elseif n>I then
I=n
end
return I,M,math.max(z,D),4,true
end
local function cY(n,z,J,e)
local D,az=d[e+3],eR(e,q)
if not n or q>=bC(n,z,J)then return az,D,0 end
if D>z then return math.max(az,n+z),D,4 end
if D<z and J<5 then return n+z,z,5 end
if az-D<n then az=az+D end
return az,D,0
end
local function dp(n,M,z,J,e)
local aj,D,O=d[e+2],d[e+3],0
if J>=5 and D<z then
O=math.max(0,math.min(math.floor((q-n+z)/D),math.floor(z/D)-1))
end
local ap,aK=n-z+O*D,O*aj
local Q=math.max(0,M-aK)
if J==6 or J==5 and aK>9007199254740991-2*aj then return ap,0,Q,n-ap,6 end
return ap,aK,Q,z,J
end
local function dw(J,M,aj)
if J>=4 then return J end
if M*4>aj then return 3 end
return M*16>aj and 2 or M*64>aj and 1 or 0
end
return cW,cY,dp,dw
`

const counterChange = `local U,E,ai=...
local cA,dg=s'counter-value'
local cV,cS,dt=s'counter-adopt'
return function(b,e,fH)
local D=d[e+3]
local g=0
local a=U(b)
local n,P,R,A,aB,aC
if a then
local bA
n,P,R,A,aB,g=cA(a)
if g==9000000000000000 then return true end
bA=n
if n then
n,P,R,A,aB,aC=cV(n,P,R,A,aB,e)
end
if bA and not n then ai(b,g)end
end
local aI=n and q<n
local bp,fg,ep=cS(n,P,R,D)
if not aI then A,aB=D,0 end
local cM,dm=fH(bp,fg,ep,A,dt(bp,ep,A,e))
if cM~=0 or dm~=0 then
n,P,R,aC=bp,fg-cM,ep-dm,true
if P+R==0 then return ai(b,g)end
end
if not aC then return end
local j=n
if P>0 then j=n+A end
E(b,dg(n,P,R,A,aB,g),math.max(j,g))
end
`

const counterAdopt = `local function cS(n,P,R,D)
if n and q<n then return n,P,R end
if not n or P==0 or q>=n+D then return q-q%D+D,0,0 end
return n+D,0,P
end
local function cV(n,P,R,z,aB,e)
local D=d[e+3]
if z==D then
if aB==0 or q>=n then return n,P,R,z,aB,false end
return n,P,R,z,0,true
end
if z>D and q<n then return n,P,R,z,aB,false end
n,P,R=cS(n,P,R,z)
if z>D and aB==0 then
if R==0 then return nil end
return n,P,R,z,1,true
end
n=n-z+D
if q>=n or P+R==0 then return nil end
return n,P,R,D,0,true
end
local function dt(n,R,z,e)
if R==0 then return 0 end
local cP=d[e+4]
if z~=d[e+3]then
cP=1
while z/cP>1000000 do cP=cP*10 end
end
local dP=math.floor(z/cP)
local w=math.min(dP,math.ceil((n-q)/cP))
local bB=math.floor(R/1000000)
local fo=bB*w
local bY=math.floor(fo/dP)
local h=(fo-bY*dP)*1000000+(R-bB*1000000)*w
return bY*1000000+math.ceil(h/dP)
end
return cV,cS,dt
`

const logChange = `local E,aL,ai=...
local S=s('log-value',E,aL)
local cn,cU,dd=s('log-adopt',S)
local dr,eu=s('log-refund',S,ai,E)
local function db(b,e,bg)
local bd=S.aN(b)
if bd.g==9000000000000000 then return true end
local c=cn(bd,e)
if bd.bA and not c.bA then ai(b,c.g)end
local k,B,Q=cU(c,e)
if not bg(c,k,B,Q)and c.ei then S.dQ(c)end
end
local function cp(c,e,B,k,ac)
S.ay(c,dd(c,e,B,k,ac))
end
return db,cp,dr,eu,S
`

const logValue = `local E,aL=...
local ao=s'block-value'
local be,aY,bZ,ca=47,14,64,4503599627370496
local function fe(b,g)
return{b=b,G=0,ax=0,aK=0,m=0,ak=0,z=0,r=0,g=g,bd=0,dA=true}
end
local function fW(b)
local N,c=KEYS[b],fe(b,0)
local a=redis.pcall('GETRANGE',N,0,be+bZ*aY-1)
if type(a)~='string'then return c end
local D=#a
if D==be+bZ*aY then D=call('STRLEN',N)end
if D<be or string.byte(a)~=2 or(D-be)%aY>0 then
local g,L=ao(a)
if L==''then c.g=g end
return c
end
local F,g,z,r,aK,m,ak,ax=ab('>BI7I7I7I7I7I7I4',a)
local bd=(D-be)/aY
if ax>bd or z<1 then return c end
c.bA,c.dA,c.bd,c.G=true,false,bd,bd+1
c.g,c.z,c.r,c.aK,c.m,c.ak,c.ax=g,z,r,aK,m,ak,ax
c.er={[0]=string.sub(a,be+1)}
return c
end
local function ba(c,p)
if p==c.G-1 then return c.m,c.ak end
if p==c.bd then return c.fj,c.fk end
local fh=p%bZ
local av=(p-fh)/bZ
local dN=c.er[av]
if not dN then
local x=be+av*bZ*aY
dN=call('GETRANGE',KEYS[c.b],x,x+bZ*aY-1)
c.er[av]=dN
end
local m,ak=ab('>I7I7',dN,fh*aY+1)
return m,ak
end
local function aT(c,p)
if p<c.ax then return 0 end
local F,ak=ba(c,p)
return(ak-c.aK)%ca
end
local function ce(c,fR,x)
local u,C=x,c.G
while u<C do
local cw=math.floor((u+C)/2)
if ba(c,cw)>fR then C=cw else u=cw+1 end
end
return u
end
local function di(c,ak,x)
local u,C=x,c.G
while u<C do
local cw=math.floor((u+C)/2)
if aT(c,cw)>=ak then C=cw else u=cw+1 end
end
return u
end
local function cp(c,ay)
local x=ay.x
c.ei,c.bA,c.z,c.r=true,true,ay.z,ay.r
if x==c.G then
c.dA,c.bd,c.G,c.ax,c.aK,c.m,c.ak=true,0,1,0,0,ay.k,ay.ac
return
end
if x>c.ax then
local F,aK=ba(c,x-1)
c.aK,c.ax=aK,x
end
if not ay.cK then
c.fj,c.fk,c.G=c.m,c.ak,c.G+1
end
c.m,c.ak=ay.k,(c.ak+ay.ac)%ca
end
local function fc(c,ax)
return pack('>BI7I7I7I7I7I7I4',2,c.g,c.z,c.r,c.aK,c.m,c.ak,ax)
end
local function fb(c)
local j=c.m+c.z
if c.r>c.z then j=c.m+c.r end
if c.g>j then j=c.g end
return j
end
local function gh(c)
local j=fb(c)
local X=c.G-1>c.bd
local bf=''
if X and c.ax<=c.bd then bf=pack('>I7I7',c.fj,c.fk)end
local ax=c.ax
local bY=c.dA or c.bd<=bZ or ax>c.G-ax
if bY then ax=0 end
local K=fc(c,ax)
if bY then
local cc=''
if not c.dA then
if c.bd<=bZ then
cc=string.sub(c.er[0],c.ax*aY+1)
else
cc=call('GETRANGE',KEYS[c.b],be+c.ax*aY,-1)
end
end
return E(c.b,K..cc..bf,j)
end
call('SETRANGE',KEYS[c.b],0,K)
if X then call('APPEND',KEYS[c.b],bf)end
aL(c.b,j)
end
return{
be=be,
aY=aY,
ca=ca,
fV=fe,
aN=fW,
ba=ba,
aT=aT,
ce=ce,
di=di,
ay=cp,
K=fc,
j=fb,
dQ=gh,
}
`

const logAdopt = `local S=...
local ce,aT=S.ce,S.aT
local fz=10000
local function cn(c,e)
local D=d[e+3]
if not c.bA or c.z==D then return c end
local r=c.z
if c.r>r then r=c.r end
if c.m+r<=q then
return S.fV(c.b,c.g)
end
c.z,c.ei=D,true
if r>D then c.r=r else c.r=0 end
return c
end
local function cU(c,e)
local k=q
if c.m>q then k=c.m end
local B=ce(c,k-d[e+3],c.ax)
return k,B,aT(c,c.G-1)-aT(c,B-1)
end
local function dd(c,e,B,k,ac)
local x,r,at=B,c.r,d[e+4]
if r>0 then x,at=ce(c,k-r,c.ax),fz end
local aI=c.G-x
local cK=aI>0 and c.m==k
if not cK and aI>=at then
if x<B then x=x+1 else cK=true end
end
if aI==0 then r=0 end
return{x=x,k=k,cK=cK,ac=ac,z=d[e+3],r=r}
end
return cn,cU,dd
`

const logRefund = `local S,ai,E=...
local ba,aT,be,aY,ca=S.ba,S.aT,S.be,S.aY,S.ca
local function fu(c,ap,aA)
local ck,ak={},(c.aK+aT(c,ap-1))%ca
for p=ap,c.G-1 do
local h=aT(c,p)-aT(c,p-1)-(aA[p]or 0)
if h>0 then
ak=(ak+h)%ca
ck[#ck+1]={(ba(c,p)),ak}
end
end
local bJ=ap
if#ck==0 then
if ap==c.ax then return ai(c.b,c.g)end
bJ=ap-1
c.m,c.ak=ba(c,bJ)
else
c.m,c.ak=unpack(ck[#ck])
end
local cc=''
if bJ>c.ax then cc=call('GETRANGE',KEYS[c.b],be+c.ax*aY,be+bJ*aY-1)end
for p=1,#ck-1 do cc=cc..pack('>I7I7',ck[p][1],ck[p][2])end
E(c.b,S.K(c,0)..cc,S.j(c))
end
local function gf(c,B,bh,al,bk)
local w,ap,aA=al,c.G,{}
local function dV(p)
local O=aT(c,p)-aT(c,p-1)
if O>w then O=w end
aA[p],w=O,w-O
end
if bk<0 then
while ap>B and w>0 do
ap=ap-1
dV(ap)
end
elseif bk>bh then
ap=S.ce(c,bk-1,B)
for p=ap,c.G-1 do dV(p)end
end
if w<al then fu(c,ap,aA)end
return al-w
end
return gf,fu
`

const bucketDescriptor = `local i,l,o=d[e+1],d[e+2],d[e+3]
local aG,as,ac,bQ=d[e+4],d[e+5],d[e+6],d[e+7]
if d[e]==0 then
local H=aG*l
bQ=H%i
ac=(H-bQ)/i
H=o*l
as=-H%i
aG=(H+as)/i
end
`

const bucket = `local U,a=s'bucket-value'
local Y,ar,aM,bz,bL=s'bucket-flow'
local aO,aW,j=s('bucket-leases',Y,ar)
local cG=s('bucket-adopt',Y,ar,aM,bz,bL,aO,aW)
return{
U=U,
a=a,
Y=Y,
ar=ar,
aM=aM,
bL=bL,
aO=aO,
aW=aW,
j=j,
cG=cG,
}
`

const bucketStep = `local k,g,T=q,0,0
local f,h,y,r,v,aC,bm,j
if a then
local G=#a
local C,u,W,ah,ad,an,I
if G==12 then
C,u,W,ah,an=ab('>I3I4I3BB',a)
h,r,ad,an=0,0,1,an*1000000
elseif G==28 then
C,u,h,W,ah,ad,an=ab('>I3I4I3I5I3I5I5',a)
r=0
elseif G==49 then
C,u,h,I,r,ah,ad,an=ab('>I3I4I7I7I7I7I7I7',a)
end
local ds=ah==i and ad==l and an==o and(not I or I<=9007199254740991 and r<=3200000000000000)
if ds and C>=6291456 and C<10485504 and h<i then
f=(C-8388608)*4294967296+u
y=I or f+W
else
bx=bx or dT(q,pack,ab)
f,h,y,r,ah,ad,an,g,v=bx.U(a,0)
end
if f then
if ah~=i or ad~=l or an~=o then
f,h,y,r,v=bx.cG(f,h,y,r,ah,ad,an,i,l,o,v)
aC=f
end
if f and y>q then k=y end
if v then
f,h,v=bx.aW(f,h,i,l,o,v,k)
end
end
end
local bh=k-aG
if not f then
f,h,r=bh,as,0
elseif f<bh or(f==bh and h<=as)then
if r>0 and k>=math.max(y,f)+r then r=0 end
f,h=bh,as
end
local aN,bF=aP,k
if g>q then aN=0 end
if bJ and dC<=o-(v and bx.aO(v)or 0)then bF=k+bJ end
while T<aN do
local dk,w=f+ac,h+bQ
if w>=i then dk,w=dk+1,w-i end
if dk>bF or(dk==bF and w>0)then break end
f,h,T=dk,w,T+1
end
if T>0 or aC then
j=f+aG
if h>as then j=j+1 end
local W,u=k-f,f%4294967296
if g>0 or v then
bx=bx or dT(q,pack,ab)
bm=bx.a(f,h,k,r,i,l,o,g,v)
if v then
j=bx.j(f,h,k,r,i,l,o,v)
elseif r>0 then
j=math.max(j,math.min(math.max(k,f)+r,9007199254740991))
end
if g>j then j=g end
elseif r>0 or W<0 or W>=1099511627776 or i>=16777216 or o>=1099511627776 then
bm=pack('>I3I4I7I7I7I7I7I7',8388608+(f-u)/4294967296,u,h,k,r,i,l,o)
if r>0 then j=math.max(j,math.min(math.max(k,f)+r,9007199254740991))end
elseif l==1 and h==0 and W<16777216 and i<256 and o<256000000 and o%1000000==0 then
bm=pack('>I3I4I3BB',8388608+(f-u)/4294967296,u,W,i,o/1000000)
else
bm=pack('>I3I4I3I5I3I5I5',8388608+(f-u)/4294967296,u,h,W,i,l,o)
end
end
`

const reply = `local eD,aE=0,#KEYS
local bb={}
for b=1,aE do
aq[b]=aq[b]or''
bb[b]=#aq[b]
end
for O=1,#bR do bb[aE+O]=bR[O]end
for p=1,#bb do
if bb[p]>eD then eD=bb[p]end
end
local K
if eD<256 and#bb<=2000 then
K=string.char(1,unpack(bb))
else
for p=1,#bb do bb[p]=pack('>I4',bb[p])end
K=string.char(4)..table.concat(bb)
end
for p=1,#aV do aV[p]=pack('>I7',aV[p])end
return K..table.concat(aq,'',1,aE)..table.concat(aV)..pack('>I7',q)
`

const window = `local cC,dx,bC=s'window-value'
local cW,cY,dp,dw=s('window-adopt',bC)
return function(a,e,aP)
local ac,aj,fq=d[e+1],d[e+2],d[e+5]
local g,T=0,0
local n,M,A,J,aC
if a then
n,M,A,J,g=cC(a)
if n then n,M,A,J,aC=cW(n,M,A,J,e)end
end
if not(n and q<n)then
n,A,J=cY(n,A,J,e)
M=0
end
local ap,aK,Q,bc,cF=dp(n,M,A,J,e)
local dD,at=q-ap,aj
if fq>0 and dD<fq then
if dD<0 then dD=0 end
local dF=math.floor(dD*d[e+6]/d[e+7])
if dF<1000000 then dF=1000000 end
if dF<at then at=dF end
end
if g>q then aP=0 end
while T<aP and Q+ac<=at do
Q,T=Q+ac,T+1
end
if T>0 then
M,A=aK+Q,bc
J=dw(cF,M,aj)
elseif not aC then
return 0
end
local j=bC(n,A,J)
if g>j then j=g end
return T,dx(n,M,A,J,g),j
end
`

const counter = `local cA,dg=s'counter-value'
local cV,cS,dt=s'counter-adopt'
return function(a,e,aP)
local ac,aj,D=d[e+1],d[e+2],d[e+3]
local g,T,R,A,aB=0,0,0,D,0
local n,P,aC
if a then
n,P,R,A,aB,g=cA(a)
if n then
n,P,R,A,aB,aC=cV(n,P,R,A,aB,e)
end
end
if not(n and q<n)then
n,P,R=cS(n,P,R,D)
A,aB=D,0
end
local aw=aj-dt(n,R,A,e)
if g>q then aP=0 end
while T<aP and P+ac<=aw do
P,T=P+ac,T+1
end
if T==0 and not aC then return 0 end
local j=n
if P>0 then j=n+A end
if g>j then j=g end
return T,dg(n,P,R,A,aB,g),j
end
`

const record = `local cB,dq=s'record-value'
local ao=s'block-value'
return function(a,e,aP,F,bV)
local F,g=cB(a)
if aP==0 or g and q<g+60000000 then return 0 end
if a and ao(a)>q then return 0 end
local M,H=d[e+3],{}
for p=1,M do
local au,t=d[e+2+2*p],d[e+3+2*p]
H[p]={au,t,t,0,bV and bV[#bV-M+p]or 0}
end
local j=q+d[e+1]
return 1,dq(q,j,d[e+2],H),j+60000000
end
`

const slots = `local ao,bn,bo=s'block-value'
local dY=4000
local function cz(a,x)
local C,u=ab('>I3I4',a,x)
return(C-2097152)*4294967296+u
end
local function bu(av)
local u=av%4294967296
return pack('>I3I4',2097152+(av-u)/4294967296,u)
end
local function et(a)
local g,L=0,a or''
if a then g,L=ao(a)end
local G=#L
if string.byte(L)~=3 or G%35~=22 then
return nil,nil,'',0,q,L==''and g or 0
end
local y,I=cz(L,9),cz(L,16)
local k,x=q,23
if y>q then k=y end
while x<G and cz(L,x+21)<=k do x=x+35 end
local Q=0
for cg=x,G,35 do Q=Q+cz(L,cg+14)end
return y,I,string.sub(L,x),Q,k,g
end
local function em(t,dj)
local x=string.find(t,dj,1,true)
while x and x%35~=1 do x=string.find(t,dj,x+1,true)end
return x
end
local function bf(t,cg,g)
local x=#t+1
while x>1 and cz(t,x-14)>g do x=x-35 end
return string.sub(t,1,x-1)..cg..string.sub(t,x)
end
local function ew(k,I,t,g)
local j=I+1
if t~=''then j=math.max(j,cz(t,#t-13))end
local a='\\3'..pack('>I7',j)..bu(k)..bu(I)..t
if g>0 then a=bo(a,g)end
return a,math.max(j,g),j
end
local function dV(a,e,aP,cb)
local ac,aj=(cb or 0)+d[e+1],d[e+2]
local T,bm,j=0,nil,nil
while T<aP do
local y,I,t,Q,k,g=et(a)
if g>q or ac>aj then break end
local dj=bu(d[e+5])..bu(d[e+6])
if d[e+4]==0 or not em(t,dj)then
if Q+ac>aj or#t>=dY*35 then break end
I=y and math.max(k,I+1)or k
local n=k+d[e+3]
t=bf(t,dj..bu(ac)..bu(n)..bu(I),n)
a,j=ew(k,I,t,g)
bm=a
end
T=T+1
end
return T,bm,j
end
local function cD(a,bM,dn)
local y,I,t,F,k,g=et(a)
local x=y and em(t,bu(bM)..bu(dn))
if not x then return nil end
t=string.sub(t,1,x-1)..string.sub(t,x+35)
local w,j,br=ew(k,I,t,g)
if br<=k then return false,g end
return w,j
end
local function dO(a,bM,dn,aJ)
local y,I,t,F,k,g=et(a)
local x=y and em(t,bu(bM)..bu(dn))
if not x or k+aJ<=cz(t,x+21)then return nil end
local cg=string.sub(t,x,x+20)..bu(k+aJ)..string.sub(t,x+28,x+34)
t=bf(string.sub(t,1,x-1)..string.sub(t,x+35),cg,k+aJ)
return ew(k,I,t,g)
end
return dV,cD,dO
`

const log = `local S=...
local ba,aT,di=S.ba,S.aT,S.di
local cn,cU,dd=s('log-adopt',S)
local function eP(c,e,B,I,dl,Q,ac)
local p=di(c,aT(c,B-1)+Q+ac-d[e+2],B)
if p<I then dl=ba(c,p)end
return dl+d[e+3]
end
local function dW(c,e,B,I,dl,Q)
local aj=d[e+2]
local cQ,cR=0,0
if aj>Q then cQ=math.floor((aj-Q)/1000000)end
if Q>0 then cR=dl+d[e+3]-q end
local X=(cQ+1)*1000000
if X>aj then return cQ,cR,cR end
return cQ,eP(c,e,B,I,dl,Q,X)-q,cR
end
local function ef(c,e,ac)
local aj=d[e+2]
local k,B,Q=cU(c,e)
if ac>aj-Q then
if ac>aj then return 2,0,dW(c,e,B,c.G,c.m,Q)end
return 1,eP(c,e,B,c.G,k,Q,ac)-q,dW(c,e,B,c.G,c.m,Q)
end
local ay=dd(c,e,B,k,ac)
local I=c.G
if ay.cK then I=I-1 end
local cQ,gg,cR=dW(c,e,B,I,k,Q+ac)
return 0,0,cQ,gg,cR,ay
end
local function eC(c,e)
local F,B,Q=cU(c,e)
return dW(c,e,B,c.G,c.m,Q)
end
return cn,ef,eC
`

const holdChange = `local dB=...
local U,E,aL,remove,ag=s'state'
local ai=s('drop',E,remove,ag)
local ao=s'block-value'
local cB,dq=s'record-value'
local dz=9000000000000000
local co,Y,aM,bz
local cD,dO
local function gl(f,h,k,v,i,l,o,t,ae,Z)
if ae>t then
local aw=0
if f<k or(f==k and h==0)then
aw=o+aM(f,h,i,l,k)
else
local A,w=Y(i,l,o,0)
A,w=f-A,h-w
if w<0 then A,w=A-1,w+i end
aw=aM(A,w,i,l,k)
end
local X=math.min(ae-t,aw)
if X<=0 then return t end
local A,w=Y(i,l,X,0)
return t+X,-1,A,w
end
local eX,eY=f,h
if f<k then eX,eY=k,0 end
local aw,w=Y(i,l,o,0)
aw,w=aw-(eX-Z),w-eY
if w<0 then aw,w=aw-1,w+i end
if ae==t or aw<0 or(aw==0 and w==0)then return ae end
local H=(t-ae)%1000000
local bK,cX=bz(i,l,(t-ae-H)/1000000)
local X
X,cX=Y(i,l,H,cX)
bK=bK+X
if bK<aw or(bK==aw and cX<=w)then
if t-ae>2*o then bK,cX=Y(i,l,2*o,0)end
return ae,1,bK,cX
end
if v then
local bY
if w>0 then bY=aM(0,i-w,i,l,aw+1)else bY=aM(0,0,i,l,aw)end
aw,w=Y(i,l,bY,0)
end
return ae,1,aw,w
end
local function dR(b,e,t,ae,Z)
if not co then co,Y,aM,bz=s('bucket-change',U,E,ai)end
local i,l,o,aG,as=dB(e)
local am
local function ex(f,h,k,v)
local aX,A,cT
am,aX,A,cT=gl(f,h,k,v,i,l,o,t,ae,Z)
return aX,A,cT
end
co(b,i,l,o,aG,as,true,ex)
return am
end
local function gm(b,e,t,ae,F,m)
local am
s('window-change',U,E,ai)(b,e,function(Q,ap)
local al=math.min(math.max(0,t-ae),Q)
if m<ap then al=0 end
al=al-math.max(0,math.min(ae-t,2*d[e+2]-Q))
am=t-al
return al
end)
return am
end
local function gi(b,e,t,ae,F,m)
local am
s('counter-change',U,E,ai)(b,e,function(bp,P,R,A,ev)
local eW=m>=bp-A
local en=not eW and m>=bp-2*A
local al
if ae<t then
al=math.min(t-ae,eW and P or en and R or 0)
else
local aj=d[e+2]
local aw=2*aj-P-ev
if en then aw=math.min(aw,2*aj-R)end
al=-math.max(0,math.min(ae-t,aw))
end
am=t-al
if en then return 0,al end
return al,0
end)
return am
end
local function gj(b,e,t,ae,F,m)
local db,cp,dr,eu,S=s('log-change',E,aL,ai)
local am
db(b,e,function(c,k,B,Q)
am=t
local bh=k-d[e+3]
if ae<t then
local aA=dr(c,B,bh,t-ae,m)
am=t-aA
return aA>0
end
local X=math.min(ae-t,2*d[e+2]-Q)
if X<=0 then return end
am=t+X
local p=S.ce(c,m-1,B)
if m<=bh or p==c.G then return cp(c,e,B,k,X)end
eu(c,p,{[p]=-X})
return true
end)
return am
end
local function eK(b,fJ,...)
local a=U(b)
if a and ao(a)==dz then return true end
local w,j=fJ(a,...)
if w then E(b,w,j)elseif w==false then ai(b,j)end
end
local aU={[0]=dR,gm,gi,gj,dR}
local function fS(b,e)
if d[e]==3 then
local F,F,F,F,S=s('log-change',E,aL,ai)
return S.aN(b).g==dz
end
local a=U(b)
return a and ao(a)==dz
end
local function eJ(O,B,aa)
for call=1,aa do
if d[B+3*call-3]==O[1]then return B+3*call-3,call end
end
end
local function gk(N,B,aa,H,m,gq)
for F,O in ipairs(H)do
local p,call=eJ(O,B,aa)
if p then
local e,ae=d[p+1],d[p+2]
if d[e]==7 then
if eK(N+call,cD,d[B-2],d[B-1])then return true end
O[3]=0
elseif not gq then
local am=aU[d[e]](N+call,e,O[2],ae,O[5],m)
if not am then return true end
O[3],O[4]=am,math.max(0,ae-am)
end
end
end
end
local function ga(N,B,aa,H,aJ)
for call=1,aa do
local au,e=d[B+3*call-3],d[B+3*call-2]
for F,O in ipairs(H)do
if O[1]==au and d[e]==7 then
if eK(N+call,dO,d[B-2],d[B-1],aJ)then return true end
break
end
end
end
end
local function fP(N,B,aa)
if aa<2 then return false end
for call=1,aa do
if fS(N+call,d[B+3*call-2])then return true end
end
end
return function(N,by,B,aa)
local a=U(N)
if a and ao(a)==dz then return 5,0,{}end
local m,j,aS,H=cB(a)
if not m or q>=j+60000000 then return 0,0,{}end
if aS==1 then return 4,j,H end
if q>=j then
for F,O in ipairs(H)do
local p=eJ(O,B,aa)
if by==-1 and p then O[4]=math.max(0,d[p+2]-O[3])end
end
return 3,j,H
end
if fP(N,B,aa)then return 5,0,{}end
if not cD then
local F
F,cD,dO=s'slots'
end
local dU=2
if by<0 then
if gk(N,B,aa,H,m,by==-2)then return 5,0,{}end
aS=1
else
if ga(N,B,aa,H,by)then return 5,0,{}end
dU,j=1,math.max(j,q+by)
end
E(N,dq(m,j,aS,H),j+60000000)
return dU,j,H
end
`

export const adjustProgram: Program = {
  sha1: 'c5f52fac583f22802e9f1ec0ccb14e1979d3179f',
  source: () =>
    [
      ``,
      clock,
      `local function s(V,...)
if V=='state'then
`,
      state,
      `elseif V=='strings'then
`,
      strings,
      `elseif V=='packed-value'then
`,
      packedValue,
      `elseif V=='sweep'then
`,
      sweep,
      `elseif V=='block-value'then
`,
      blockValue,
      `elseif V=='state-until'then
`,
      stateUntil,
      `elseif V=='bucket-value'then
`,
      bucketValue,
      `elseif V=='bucket-flow'then
`,
      bucketFlow,
      `elseif V=='bucket-leases'then
`,
      bucketLeases,
      `elseif V=='window-value'then
`,
      windowValue,
      `elseif V=='counter-value'then
`,
      counterValue,
      `elseif V=='record-value'then
`,
      recordValue,
      `elseif V=='drop'then
`,
      drop,
      `elseif V=='bucket-change'then
`,
      bucketChange,
      `elseif V=='bucket-adopt'then
`,
      bucketAdopt,
      `elseif V=='window-change'then
`,
      windowChange,
      `elseif V=='window-adopt'then
`,
      windowAdopt,
      `elseif V=='counter-change'then
`,
      counterChange,
      `elseif V=='counter-adopt'then
`,
      counterAdopt,
      `elseif V=='log-change'then
`,
      logChange,
      `elseif V=='log-value'then
`,
      logValue,
      `elseif V=='log-adopt'then
`,
      logAdopt,
      `elseif V=='log-refund'then
`,
      logRefund,
      `end
end
local bk=d[2]
local U,E,aL,remove,ag=s'state'
local ai=s('drop',E,remove,ag)
local function eH(b,e,aX)
local co=s('bucket-change',U,E,ai)
`,
      bucketDescriptor,
      `return co(b,i,l,o,aG,as,false,function(F,F,k)
if aX>0 and bk>=0 and bk<=k-aG then return nil end
return aX,ac,bQ
end)
end
local function fE(b,e,aX)
local al,aj=d[e+1],d[e+2]
return s('window-change',U,E,ai)(b,e,function(Q,ap)
if aX<0 then return-math.max(0,math.min(2*aj-Q,al))end
if bk>=0 and bk<ap then return 0 end
return math.min(al,Q)
end)
end
local function fB(b,e,aX)
local al,aj=d[e+1],d[e+2]
return s('counter-change',U,E,ai)(b,e,function(bp,P,R,A,ev)
if aX<0 then return-math.max(0,math.min(2*aj-P-ev,al)),0 end
if bk>=0 and bk<bp-2*A then return 0,0 end
local ap=bp-A
local cM,dm=math.min(P,al),0
if bk>=0 and bk<ap then cM=0 end
if bk<ap then dm=math.min(R,al-cM)end
return cM,dm
end)
end
local function fC(b,e,aX)
local db,cp,dr=s('log-change',E,aL,ai)
local al=d[e+1]
return db(b,e,function(c,k,B,Q)
if aX>0 then return dr(c,B,k-d[e+3],al,bk)>0 end
local bf=math.min(al,2*d[e+2]-Q)
if bf>0 then cp(c,e,B,k,bf)end
end)
end
local function fD(b)
local ao=s'block-value'
local a=U(b)
return a and ao(a)==9000000000000000
end
local aU={[0]=eH,fE,fB,fC,eH,[7]=fD}
local bH={}
for p=1,d[3]do
local e=d[2+2*p]
if aU[d[e]](p,e,d[3+2*p])then bH[#bH+1]=p end
end
return bH
`,
    ].join(''),
}

export const blockProgram: Program = {
  sha1: '5cf5e18919e4f26c67b59f091bc285487261bf18',
  source: () =>
    [
      ``,
      clock,
      `local function s(V,...)
if V=='state'then
`,
      state,
      `elseif V=='strings'then
`,
      strings,
      `elseif V=='packed-value'then
`,
      packedValue,
      `elseif V=='sweep'then
`,
      sweep,
      `elseif V=='block-value'then
`,
      blockValue,
      `elseif V=='state-until'then
`,
      stateUntil,
      `elseif V=='bucket-value'then
`,
      bucketValue,
      `elseif V=='bucket-flow'then
`,
      bucketFlow,
      `elseif V=='bucket-leases'then
`,
      bucketLeases,
      `elseif V=='window-value'then
`,
      windowValue,
      `elseif V=='counter-value'then
`,
      counterValue,
      `elseif V=='record-value'then
`,
      recordValue,
      `elseif V=='log-value'then
`,
      logValue,
      `end
end
local U,E,aL,remove,F,cv=s'state'
local ao,bn=s'block-value'
local ey=s'state-until'
local function gs(a)
local cj,cZ=s'bucket-value'
local Y,ar=s'bucket-flow'
local aO,aW,ct=s('bucket-leases',Y,ar)
local f,h,y,r,i,l,o,F,v=cj(a,0)
if not v then return nil,''end
local k=q
if y>q then k=y end
f,h,v=aW(f,h,i,l,o,v,k)
if not v then return nil,''end
f,h=ar(-math.huge,0,i,l,o-aO(v),k)
a=cZ(f,h,k,r,i,l,o,0,v)
return ct(f,h,k,r,i,l,o,v),a
end
local D=d[2]
local bH={}
local function fI(b)
local S=s('log-value',E,aL)
local c=S.aN(b)
if D<0 or not c.bA then return c.g,''end
c.g=0
if D>0 then c.g=q+D end
call('SETRANGE',KEYS[b],0,S.K(c,c.ax))
aL(b,S.j(c))
end
for b=1,#KEYS do
local aQ,a=cv and cv(b),nil
if aQ then a=U(b)else a=redis.pcall('GETRANGE',KEYS[b],0,2047)end
if type(a)~='string'then a=''end
if#a==2048 and string.byte(a)~=2 then a=call('GET',KEYS[b])end
local g,L,j=0,a,nil
if string.byte(a)==2 then
g,L=fI(b)
elseif a~=''then
g,L=ao(a)
j=ey(a)
if g==9000000000000000 then
g=0
if D>=0 then bH[#bH+1],L=b,nil end
elseif not j and L~=''then
g,L=0,''
end
end
if L then
if D<0 then
j,L=gs(L)
elseif D>0 then
g=q+D
else
g=0
end
if g>0 then
if L~=''then
E(b,bn(g)..L,math.max(g,j))
elseif g>q then
E(b,bn(g),g)
elseif aQ then
call('HSET',KEYS[b],aQ,bn(g))
else
call('SET',KEYS[b],bn(g),'KEEPTTL')
end
elseif L~=''then
E(b,L,j)
elseif a~=''or D<0 then
remove(b)
end
end
end
return bH
`,
    ].join(''),
}

export const bucketsProgram: Program = {
  sha1: 'bef0d4b7649b9f14027331c4ddee5c8a89b78d5f',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,ab,format=struct.pack,struct.unpack,string.format
local bv=call('TIME')
local q=bv[1]*1000000+bv[2]
local bx
local function dT(q,pack,ab)
local function s(V,...)
if V=='bucket'then
`,
      bucket,
      `elseif V=='bucket-value'then
`,
      bucketValue,
      `elseif V=='block-value'then
`,
      blockValue,
      `elseif V=='bucket-flow'then
`,
      bucketFlow,
      `elseif V=='bucket-leases'then
`,
      bucketLeases,
      `elseif V=='bucket-adopt'then
`,
      bucketAdopt,
      `end
end
return s'bucket'
end
local i,l,o=ARGV[1]+0,ARGV[2]+0,ARGV[3]+0
local H=ARGV[4]*l
local bQ=H%i
local ac=(H-bQ)/i
H=o*l
local as=-H%i
local aG=(H+as)/i
local aE,fK,ag=#KEYS,#ARGV>5,ARGV[5]+0
local aq=KEYS.af or aE==1 and call('MGET',KEYS[1])or aE>1 and call('MGET',unpack(KEYS))or{}
local bR,aV,aP={},{},1
local bJ,dC
for b=1,aE do
local a=aq[b]
if fK then aP=ARGV[5+b]+0 end
`,
      bucketStep,
      `if bm then call('SET',KEYS[b],bm,'PXAT',format('%d',(j+ag)/1000+1))end
bR[b]=T
end
`,
      reply,
    ].join(''),
}

export const cellsProgram: Program = {
  sha1: '92386395da662eb1f640a206ae3fec7a326e84a6',
  source: () =>
    [
      ``,
      clock,
      `local eM,at=d[2],d[3]
local ch=call('INFO','server')..call('INFO','replication')
local bl=string.match(ch,'run_id:(%x+)')..'-'..string.match(ch,'master_replid:(%x+)')..'-'
local aZ=call('GET',KEYS[1])
local bO=aZ and string.match(aZ,'^%S+')or''
if string.sub(bO,1,#bl)~=bl then bO=bl end
local bq={}
local fa=call('ZRANGEBYSCORE',KEYS[5],math.floor(eM/64),'+inf','LIMIT',0,at+1)
for p=1,#fa do
local bU,fF=KEYS[5]..':'..fa[p],'('..string.format('%.0f',eM)
local X=call('ZRANGEBYSCORE',bU,fF,'+inf','LIMIT',0,at-#bq)
for au=1,#X do bq[#bq+1]=X[au]end
if#bq==at then break end
end
local af={bO,q,aZ,aZ and call('GET',KEYS[2]),(call('GET',KEYS[3])or 0)+0}
af[6],af[7]=#bq<at and 1 or 0,call('HLEN',KEYS[4])
local bs=#bq>0 and call('HMGET',KEYS[4],unpack(bq))
for p=1,#bq do
if bs[p]then
af[#af+1]=bq[p]
af[#af+1]=bs[p]
end
end
return af
`,
    ].join(''),
}

export const consumeProgram: Program = {
  sha1: '638b08465c864d6353a4c0cb300f1ecf227e98f2',
  source: () =>
    [
      ``,
      clock,
      `local function s(V,...)
if V=='window'then
`,
      window,
      `elseif V=='window-value'then
`,
      windowValue,
      `elseif V=='block-value'then
`,
      blockValue,
      `elseif V=='window-adopt'then
`,
      windowAdopt,
      `elseif V=='counter'then
`,
      counter,
      `elseif V=='counter-value'then
`,
      counterValue,
      `elseif V=='counter-adopt'then
`,
      counterAdopt,
      `elseif V=='record'then
`,
      record,
      `elseif V=='record-value'then
`,
      recordValue,
      `elseif V=='slots'then
`,
      slots,
      `elseif V=='bucket'then
`,
      bucket,
      `elseif V=='bucket-value'then
`,
      bucketValue,
      `elseif V=='bucket-flow'then
`,
      bucketFlow,
      `elseif V=='bucket-leases'then
`,
      bucketLeases,
      `elseif V=='bucket-adopt'then
`,
      bucketAdopt,
      `elseif V=='state'then
`,
      state,
      `elseif V=='strings'then
`,
      strings,
      `elseif V=='packed-value'then
`,
      packedValue,
      `elseif V=='sweep'then
`,
      sweep,
      `elseif V=='state-until'then
`,
      stateUntil,
      `elseif V=='log-value'then
`,
      logValue,
      `elseif V=='log'then
`,
      log,
      `elseif V=='log-adopt'then
`,
      logAdopt,
      `end
end
local aU,S={},nil
local function dH(du)
if du==1 then
aU[1]=s'window'
elseif du==2 then
aU[2]=s'counter'
elseif du==6 then
aU[6]=s'record'
elseif du==7 then
aU[7]=s'slots'
else
local bx
local function dT()
return s'bucket'
end
local function aF(a,e,aP,cb)
`,
      bucketDescriptor,
      `local bJ,dC
if d[e]==5 then
bJ,dC=d[e+8],d[e+9]+(cb or 0)
end
`,
      bucketStep,
      `return T,bm,j,f
end
aU[0],aU[4],aU[5]=aF,aF,aF
end
return aU[du]
end
local bW=d[3]
local U,E,aL
if ARGV[2]or cl~=0 or bW<#KEYS or bW>4000 then U,E,aL=s'state'end
local aq={}
if KEYS.af then
aq=KEYS.af
elseif ARGV[2]and ARGV[2]~=''then
for b=1,bW do aq[b]=U(b)end
elseif bW>0 then
aq=call('MGET',unpack(KEYS,1,math.min(bW,4000)))
for b=4001,bW do aq[b]=U(b)end
end
local aH,j={},{}
local bX,G={},0
local de,ed={},d[2]%2
for p=5+d[4]-(d[2]-ed)/2,4+d[4]do de[d[p]]=true end
local bR={}
local function eG(m,aa,K,y)
for p=m,m+2*aa-2,2 do
local b,e=d[p],d[p+1]
if d[e]==3 then
bX[K+3],bX[K+4],bX[K+5]=S.gr(y[b],e)
K=K+5
end
end
end
local bb={}
local function fQ(e)
local aJ,t=d[e+1],d[e+5]
local cE=d[e+3]==1 and aJ<1099511627776 and t<1099511627776
bb[e]=cE and pack('>BI7I5I4I5',8+d[e+2],q,aJ,d[e+4],t)
return bb[e]
end
local function ge(b,e,aR,bI)
local K=bb[bI]
if K==nil then K=fQ(bI)end
if d[bI+3]~=1 or aH[aR]or aq[aR]or de[b]or de[aR]then return end
local T,a,br,Z=(aU[d[e]]or dH(d[e]))(aH[b]or aq[b],e,1)
if T==0 then return end
local df=(Z or 0)~=0 and Z-q+549755813888 or 0
local bw='>I5'
if not K or df<0 or df>=1099511627776 or(df==0 and(Z or 0)~=0)then
K=pack('>BI7I7I4I7',10+d[bI+2],q,d[bI+1],d[bI+4],d[bI+5])
df,bw=(Z or 0)~=0 and Z-q+4503599627370496 or 0,'>I7'
end
aH[b],j[b]=a,br
aH[aR],j[aR]=K..pack(bw,df),q+d[bI+1]+60000000
return 1
end
local fA={[0]=true,true,true,[4]=true}
local function bS(m,aa)
if aa==2 and d[d[m+3]]==6 and fA[d[d[m+1]]]then
local T=ge(d[m],d[m+1],d[m+2],d[m+3])
if T then return T end
end
local aN=true
local aE,g,y,aA,eL,bV={},{},{},{},{},{}
local K=G
for p=m,m+2*aa-2,2 do
local b,e=d[p],d[p+1]
if d[e]==3 then
if not y[b]then y[b]=S.cG(S.fi(b),e)end
local c,ac=y[b],(aA[b]or 0)+d[e+1]
aA[b]=ac
local eq
eq,bX[G+2],bX[G+3],bX[G+4],bX[G+5],eL[b]=
S.fL(c,e,ac)
bX[G+1]=eq
G=G+5
bV[#bV+1]=0
if eq>0 or c.g>q then aN=false end
elseif aN then
local cb=d[e]~=7 and aE[b]or aH[b]or aq[b]
local T,a,br,Z=
(aU[d[e]]or dH(d[e]))(cb,e,1,aA[b],bV)
bV[#bV+1]=Z or 0
if T==0 then aN=false else aE[b],g[b]=a,br end
if d[e]==5 then aA[b]=(aA[b]or 0)+d[e+9]end
if d[e]==7 then aA[b]=(aA[b]or 0)+d[e+1]end
end
end
if aN then
for p=m,m+2*aa-2,2 do
if de[d[p]]and not aq[d[p]]then return 0 end
end
if ed==0 then eG(m,aa,K,y)end
for b,a in pairs(aE)do aH[b],j[b]=a,g[b]end
for b,ay in pairs(eL)do S.ay(b,y[b],ay)end
return 1
end
eG(m,aa,K,y)
for p=m,m+2*aa-2,2 do
local b,e=d[p],d[p+1]
if d[e]~=3 then
local F,a,br=(aU[d[e]]or dH(d[e]))(aH[b]or aq[b],e,0)
if a then aH[b],j[b]=a,br end
end
end
return 0
end
if bW<#KEYS then
local bt,aN=s('log-value',E,aL),{}
local cn,ef,eC=s('log',bt)
S={
fi=function(b)
if not aN[b]then aN[b]=bt.aN(b)end
return aN[b]
end,
cG=cn,
fL=ef,
gr=eC,
ay=function(b,c,ay)
aN[b]=c
bt.ay(c,ay)
end,
dQ=function()
for F,c in pairs(aN)do
if c.ei then bt.dQ(c)end
end
end,
}
for b=bW+1,#KEYS do
local c=S.fi(b)
aq[b]=(c.bA or c.g>0)and c.g
end
end
local m,I=5+d[4],#d
while m<=I do
local aa=d[m]
local B,eO,e,aP=1,1,0,1
if aa==0 then e,B,eO,aP=d[m+1],d[m+2],d[m+3],d[m+4]end
for b=B,eO do
local T,a,br
if aa==0 then
T,a,br=(aU[d[e]]or dH(d[e]))(aH[b]or aq[b],e,aP)
if de[b]and not aq[b]then
T=0
elseif a then
aH[b],j[b]=a,br
end
else
T=bS(m+1,aa)
end
bR[#bR+1]=T
end
m=m+5
if aa>0 then m=m-4+2*aa end
end
if ed==1 then
local I,fx
for b,a in pairs(aH)do
if E then
E(b,a,j[b])
else
if j[b]~=I then I,fx=j[b],string.format('%d',j[b]/1000+1)end
call('SET',KEYS[b],a,'PXAT',fx)
end
end
if S then S.dQ()end
end
for b=bW+1,#KEYS do aq[b]=aq[b]and pack('>I7',aq[b])end
local aV=bX
`,
      reply,
    ].join(''),
}

export const digestProgram: Program = {
  sha1: '9762ff15a548022d6c1413fe7cc542f64f4aeb50',
  source: () =>
    [
      `return redis.sha1hex(ARGV[1])
`,
    ].join(''),
}

export const guardProgram: Program = {
  sha1: '1ee93cf8500bcf26fdbfe6eb7221096ef1e8c3b4',
  source: () =>
    [
      `do
local call,KEYS,ARGV=redis.call,KEYS,ARGV
local sub,byte,ab=string.sub,string.byte,struct.unpack
local I=#ARGV
local bw=ARGV[I]%4
local az=(ARGV[I]-bw)/4
local aZ,dS=ARGV[az+1],ARGV[az+2]+0
local bN=#KEYS
local eU=KEYS[bN]..':rows'
if bw%2==1 then
local ch=call('INFO','server')..call('INFO','replication')
local bl=string.match(ch,'run_id:(%x+)')..'-'..string.match(ch,'master_replid:(%x+)')..'-'
local aR=call('GET',KEYS[bN])
if aR and sub(aR,1,#bl)~=bl then call('DEL',KEYS[bN])end
if sub(aZ,1,#bl)~=bl then return{0}end
end
local af=call('MGET',unpack(KEYS,1,math.min(bN,4000)))
for N=4001,bN do af[N]=call('MGET',KEYS[N])[1]end
if af[bN]~=aZ then return{0}end
local es=#KEYS[bN]-5
local m,ec,bP,q=az+4,0,nil,nil
local eb=bw>=2
local eN=not eb and m>=I
while not eN do
local i,l,o,aS,B,cd
if eb then
i,l,o,aS,B=ARGV[1]+0,ARGV[2]+0,ARGV[3]+0,ARGV[az+3]+0,1
cd=m<I and bN-1 or 1-bN
else
i,l,o=ARGV[m]+0,ARGV[m+1]+0,ARGV[m+2]+0
aS,B,cd=ARGV[m+3]+0,ARGV[m+4]+0,ARGV[m+5]+0
m=m+6
end
local M=cd>0 and cd or-cd
local bq={}
for cN=0,M-1 do
local N=KEYS[B+cN]
local x=byte(N,es)==123 and es+5 or es
bq[cN+1]=sub(N,i>0 and x or x+5)
end
local bt=call('HMGET',eU,unpack(bq,1,math.min(M,4000)))
for au=4001,M do bt[au]=call('HGET',eU,bq[au])end
for cN=0,M-1 do
ec=ec+1
local bs,a,bg=bt[cN+1],af[B+cN],cd>0 and ARGV[m+cN]or'0'
local bT
if bg=='0'then bT=not bs else bT=bs and sub(bs,1,#bg)==bg end
if bT and i>0 then
local K=a and byte(a)
if K and K>=224 then a=sub(a,8)end
local G=a and#a or 0
if G==0 then
if not q then
q=eb and 0 or ARGV[az+3]+0
if q==0 then
local bv=call('TIME')
q=bv[1]*1000000+bv[2]
end
end
bT=q>=aS
else
local C,u,W,y,dM,dL,cL,F
if G==12 then
C,u,W,dM,cL=ab('>I3I4I3BB',a)
dL,cL=1,cL*1000000
elseif G==28 then
C,u,F,W,dM,dL,cL=ab('>I3I4I3I5I3I5I5',a)
elseif G==49 then
C,u,F,y,F,dM,dL,cL=ab('>I3I4I7I7I7I7I7I7',a)
end
y=y or C and(C-8388608)*4294967296+u+W
bT=C and y>=dS and dM==i and dL==l and cL==o
end
end
if not bT then
bP=bP or{}
bP[#bP+1]=ec
end
end
if cd>0 then m=m+cd end
eN=m>=I
end
if bP then return bP end
KEYS[bN]=nil
for p=I,az+1,-1 do ARGV[p]=nil end
KEYS.af=af
end
`,
    ].join(''),
}

export const holdsProgram: Program = {
  sha1: '738b27bf7a03477bbeea3d67c5cea2b4a8585a4d',
  source: () =>
    [
      ``,
      clock,
      `local function s(V,...)
if V=='state'then
`,
      state,
      `elseif V=='strings'then
`,
      strings,
      `elseif V=='packed-value'then
`,
      packedValue,
      `elseif V=='sweep'then
`,
      sweep,
      `elseif V=='block-value'then
`,
      blockValue,
      `elseif V=='state-until'then
`,
      stateUntil,
      `elseif V=='bucket-value'then
`,
      bucketValue,
      `elseif V=='bucket-flow'then
`,
      bucketFlow,
      `elseif V=='bucket-leases'then
`,
      bucketLeases,
      `elseif V=='window-value'then
`,
      windowValue,
      `elseif V=='counter-value'then
`,
      counterValue,
      `elseif V=='record-value'then
`,
      recordValue,
      `elseif V=='hold-change'then
`,
      holdChange,
      `elseif V=='drop'then
`,
      drop,
      `elseif V=='bucket-change'then
`,
      bucketChange,
      `elseif V=='bucket-adopt'then
`,
      bucketAdopt,
      `elseif V=='window-change'then
`,
      windowChange,
      `elseif V=='window-adopt'then
`,
      windowAdopt,
      `elseif V=='counter-change'then
`,
      counterChange,
      `elseif V=='counter-adopt'then
`,
      counterAdopt,
      `elseif V=='log-change'then
`,
      logChange,
      `elseif V=='log-value'then
`,
      logValue,
      `elseif V=='log-adopt'then
`,
      logAdopt,
      `elseif V=='log-refund'then
`,
      logRefund,
      `elseif V=='slots'then
`,
      slots,
      `end
end
local bD,E
if not ARGV[2]and#KEYS<=4000 then
bD={}
local aq=call('MGET',unpack(KEYS))
for b=1,#KEYS do bD[KEYS[b]]=aq[b]end
if cl~=0 then
local F
F,E=s'state'
end
end
local function dX(b,a,j)
bD[KEYS[b]]=a
if E then return E(b,a,j)end
call('SET',KEYS[b],a,'PXAT',string.format('%d',j/1000+1))
end
local function dB(e)
`,
      bucketDescriptor,
      `return i,l,o,aG,as
end
local R,i,l,o,aG,as
local function dR(b,e,t,ae,Z)
if e~=R then
R,i,l,o,aG,as=e,dB(e)
end
local bh,X=q-aG,(ae-t)*l
if aG>1000000000000000 or X>o*l or-X>o*l then return end
local a,f,h=bD[KEYS[b]],bh,as
local C,u
if a then
local W,I,r,ah,ad,an
if#a==12 then
C,u,W,ah,an=ab('>I3I4I3BB',a)
h,ad,an=0,1,an*1000000
elseif#a==28 then
C,u,h,W,ah,ad,an=ab('>I3I4I3I5I3I5I5',a)
elseif#a==49 then
C,u,h,I,r,ah,ad,an=ab('>I3I4I7I7I7I7I7I7',a)
if r>0 then return end
else
return
end
if ah~=i or ad~=l or an~=o or C<6291456 or C>=10485504 or h>=i then return end
f=(C-8388608)*4294967296+u
if(I or f+W)>q or f>=q then return end
if f<bh or(f==bh and h<=as)then f,h=bh,as end
end
if X==0 then return true end
if X<0 then
local T=(q-Z)*i
if T>9000000000000000 or T<-9000000000000000 then return end
local aw=o*l-T
if aw<=0 then return true end
if-X>aw then return end
end
local ak=h+X%i
local w=ak%i
f,h=f+(X-X%i)/i+(ak-w)/i,w
local W=q-f
local j=f+aG
if h>as then j=j+1 end
if j<=q then
if a then call('DEL',KEYS[b])end
bD[KEYS[b]]=false
return true
end
if W<0 then return end
u=f%4294967296
C=8388608+(f-u)/4294967296
if W>=1099511627776 or i>=16777216 or o>=1099511627776 then
dX(b,pack('>I3I4I7I7I7I7I7I7',C,u,h,q,0,i,l,o),j)
return true
end
if l==1 and h==0 and W<16777216 and i<256 and o<256000000 and o%1000000==0 then
dX(b,pack('>I3I4I3BB',C,u,W,i,o/1000000),j)
else
dX(b,pack('>I3I4I3I5I3I5I5',C,u,h,W,i,l,o),j)
end
return true
end
local function aW(N,by,B)
local a,e=bD[KEYS[N]],d[B+1]
if by>=0 or d[e]~=0 or not a then return end
local bE,m,A,au,t,Z=string.byte(a),nil,nil,nil,nil,0
local cf,fl=549755813888,'>I5I5'
if bE==8 and#a==27 then
m,A,au,t,Z=ab('>I7I5I4I5I5',a,2)
elseif bE==10 and#a==33 then
m,A,au,t,Z=ab('>I7I7I4I7I7',a,2)
cf,fl=4503599627370496,'>I7I7'
end
if Z==0 or au~=d[B]or q>=m+A then return end
local j,ae=m+A,by==-1 and d[B+2]or t
if ae>=1099511627776 then return end
if by==-1 and not dR(N+1,e,t,ae,m+Z-cf)then return end
a=string.sub(a,2)
a=ae==t and string.char(bE+1)..a or string.char(bE+5)..a..pack(fl,ae,0)
if E then
dX(N,a,j+60000000)
else
bD[KEYS[N]]=a
call('SET',KEYS[N],a,'KEEPTTL')
end
return j,t,ae
end
local bg
local aV={}
local N,cy=1,3
for F=1,d[2]do
local by,aa=d[cy],d[cy+1]
local g,t,am
if bD and aa==1 then g,t,am=aW(N,by,cy+4)end
if g then
aV[#aV+1]=pack('>I7I7I7I7I7',2,g,t,am,0)
else
bg=bg or s('hold-change',dB)
local dU,j,H=bg(N,by,cy+4,aa)
aV[#aV+1]=pack('>I7I7',dU,j)
for call=1,aa do
local t,am,ci=0,0,0
for p=#H,1,-1 do
local O=H[p]
if O[1]==d[cy+3*call+1]then t,am,ci=O[2],O[3],O[4]end
end
aV[#aV+1]=pack('>I7I7I7',t,am,ci)
end
for b=N,N+aa do
local w=bD and redis.pcall('GET',KEYS[b])
if bD then bD[KEYS[b]]=type(w)=='string'and w end
end
end
N,cy=N+1+aa,cy+4+3*aa
end
return table.concat(aV)
`,
    ].join(''),
}

export const leaseProgram: Program = {
  sha1: '5045c30996b7c9a86fcaa3c25f420a5f0392989b',
  source: () =>
    [
      ``,
      clock,
      `local function s(V,...)
if V=='strings'then
`,
      strings,
      `elseif V=='drop'then
`,
      drop,
      `elseif V=='block-value'then
`,
      blockValue,
      `elseif V=='bucket'then
`,
      bucket,
      `elseif V=='bucket-value'then
`,
      bucketValue,
      `elseif V=='bucket-flow'then
`,
      bucketFlow,
      `elseif V=='bucket-leases'then
`,
      bucketLeases,
      `elseif V=='bucket-adopt'then
`,
      bucketAdopt,
      `end
end
local U,E,F,remove,ag=s'strings'
local ai=s('drop',E,remove,ag)
local aF=s'bucket'
local Y,ar,aM,aO=aF.Y,aF.ar,aF.aM,aF.aO
local dY=64
local function gt(v,aD)
local cb=#v+1
for p,dn in ipairs(v)do
if dn[4]>aD[4]then
cb=p
break
end
end
table.insert(v,cb,aD)
return v
end
local function fO(b,a,m)
local i,l,o=d[m],d[m+1],d[m+2]
local eZ,at,cg,fv,fU=d[m+3],d[m+4],d[m+5],d[m+6],d[m+7]
local k,g=q,0
local f,h,y,r,v,dc
if a then
local ah,ad,an
f,h,y,r,ah,ad,an,g,v=aF.U(a,0)
if f and(ah~=i or ad~=l or an~=o)then
f,h,y,r,v=aF.cG(f,h,y,r,ah,ad,an,i,l,o,v)
dc=true
end
if f and y>q then k=y end
end
if g>q then at=0 end
local cO,az={},nil
local bP=false
if v then
local go,gn,aS=aF.aW(f,h,i,l,o,v,k)
for F,aD in ipairs(aS or{})do
if aD[1]==cg then az=aD else cO[#cO+1]=aD end
end
bP=az and fv<=az[2]
if not bP then f,h,v,dc=go,gn,aS,true end
end
local cr=0
if not bP then
local aI,ft,eB=0,0,k+fU
if az then
aI=math.min(d[m+8],az[3])
ft=math.min(d[m+9],az[3]-aI)
eB=math.max(eB,az[4])
local bK,w=Y(i,l,ft,0)
h=h-w
if h<0 then bK,h=bK+1,h+i end
local bi=aO(cO)+aI
f,h=ar(f-bK,h,i,l,o-bi,k)
if y<k then y=k end
v=cO
end
local dI=0
if at>=eZ and(az or#cO<dY)then
dI=o
if f then
local fN,ek=ar(f,h,i,l,o,k)
dI=aM(fN,ek,i,l,k)
end
end
if dI>=eZ then cr=math.min(at,dI)end
if cr>0 then
local u,cu=ar(-math.huge,0,i,l,o,k)
if not f then
f,h,r=u,cu,0
elseif f<u or(f==u and h<=cu)then
if r>0 and k>=math.max(y,f)+r then r=0 end
f,h=u,cu
end
local A,w=Y(i,l,cr,h)
f,h,y=f+A,w,k
end
if aI+cr>0 then v=gt(cO,{cg,fv,aI+cr,eB})end
dc=dc or cr>0
end
if dc then
if v and#v==0 then v=nil end
if not f then
ai(b,g)
else
local j=aF.j(f,h,y,r,i,l,o,v or{})
if g>j then j=g end
E(b,aF.a(f,h,y,r,i,l,o,g,v),j)
end
end
return cr
end
local aq,aV,bR={},{},{}
for p=1,#KEYS do
aq[p]=U(p)
aV[p]=fO(p,aq[p],3+(p-1)*d[2])
end
`,
      reply,
    ].join(''),
}

export const needsProgram: Program = {
  sha1: '61a6b4c214c8c2361440796b247430a7aca529e7',
  source: () =>
    [
      ``,
      clock,
      `local ej=call('HGETALL',KEYS[1])
local af,bT={},false
for p=1,#ej,2 do
local fn,ba=ej[p],ej[p+1]
local m=tonumber(string.match(ba,'^%d+'))
if fn==d[2]then
bT=true
elseif q-m>d[3]or m-q>d[3]then
call('HDEL',KEYS[1],fn)
else
af[#af+1]=string.sub(ba,18)
end
end
if d[5]==''then
call('HDEL',KEYS[1],d[2])
elseif bT or#af<d[4]then
call('HSET',KEYS[1],d[2],string.format('%016.0f ',q)..d[5])
call('PEXPIRE',KEYS[1],math.ceil(d[3]/1000))
end
return af
`,
    ].join(''),
}

export const regionProgram: Program = {
  sha1: '71f96ba0599a349955c08bd08ce513a2d99cfca8',
  source: () =>
    [
      ``,
      clock,
      `local function s(V,...)
if V=='strings'then
`,
      strings,
      `elseif V=='drop'then
`,
      drop,
      `elseif V=='block-value'then
`,
      blockValue,
      `end
end
local U,E,F,remove,ag=s'strings'
local ch=call('INFO','server')..call('INFO','replication')
local bl=string.match(ch,'run_id:(%x+)')..'-'..string.match(ch,'master_replid:(%x+)')..'-'
local aZ=call('GET',KEYS[1])
local aR=aZ and call('GET',KEYS[2])
if not aR then aZ=''end
local b=6
local cs=#KEYS>=b
local a=cs and U(b)
local au=cs and string.sub(KEYS[b],#KEYS[1]-5)
if cs and string.byte(au)==123 then au=string.sub(au,6)end
local bs=cs and call('HGET',KEYS[4],au)
local eg=a and redis.sha1hex(a)or''
local bg=bs and tonumber(string.match(bs,'^%d+'))or 0
local bO=string.match(aZ,'^%S+')or''
if string.sub(bO,1,#bl)~=bl then
local k=call('TIME')
local gb=d[3]==aZ and string.sub(d[2],1,#bl)==bl
bO=gb and d[2]or bl..string.format('%x%05x',k[1],k[2])
end
local ds=d[2]==bO and d[3]==aZ
if ds and cs then ds=(d[5]==eg or d[7]=='-')and d[6]==bg end
if not ds then return{bO,q,aZ,aR,a,eg,bs}end
local aI=not cs or d[10]=='-'or d[10]==''
if not aI and bg==0 and call('HLEN',KEYS[4])>=d[11]then return 0 end
local av=call('INCR',KEYS[3])
if d[4]~=''then
call('SET',KEYS[1],bO..' '..av..' ')
call('SET',KEYS[2],d[4])
end
if not cs then return av end
if d[7]~='-'then
local ai=s('drop',E,remove,ag)
local F,F,bo=s'block-value'
local eI=string.gsub(d[7],'..',function(eh)
return string.char(tonumber(eh,16))
end)
local g,j=d[8],d[9]
if eI==''then ai(b,g)else E(b,bo(eI,g),math.max(g,j))end
end
if d[10]~='-'and bg>0 then
local bU=math.floor(bg/64)
call('ZREM',KEYS[5]..':'..bU,au)
if call('EXISTS',KEYS[5]..':'..bU)==0 then call('ZREM',KEYS[5],bU)end
end
if d[10]==''then
call('HDEL',KEYS[4],au)
elseif d[10]~='-'then
bs=av..' '..d[10]
call('HSET',KEYS[4],au,bs)
local bU=math.floor(av/64)
call('ZADD',KEYS[5]..':'..bU,av,au)
call('ZADD',KEYS[5],bU,bU)
end
if d[7]=='-'then return{bO,q,aZ,aR,a,eg,bs}end
return av
`,
    ].join(''),
}

export const releaseProgram: Program = {
  sha1: '1b51696bd1779bb6e00af20dbba205bd736ac1b0',
  source: () =>
    [
      ``,
      clock,
      `local function s(V,...)
if V=='state'then
`,
      state,
      `elseif V=='strings'then
`,
      strings,
      `elseif V=='packed-value'then
`,
      packedValue,
      `elseif V=='sweep'then
`,
      sweep,
      `elseif V=='block-value'then
`,
      blockValue,
      `elseif V=='state-until'then
`,
      stateUntil,
      `elseif V=='bucket-value'then
`,
      bucketValue,
      `elseif V=='bucket-flow'then
`,
      bucketFlow,
      `elseif V=='bucket-leases'then
`,
      bucketLeases,
      `elseif V=='window-value'then
`,
      windowValue,
      `elseif V=='counter-value'then
`,
      counterValue,
      `elseif V=='record-value'then
`,
      recordValue,
      `elseif V=='drop'then
`,
      drop,
      `elseif V=='slots'then
`,
      slots,
      `end
end
local U,E,F,remove,ag=s'state'
local ai=s('drop',E,remove,ag)
local ao=s'block-value'
local F,cD=s'slots'
local bH={}
for b=1,#KEYS do
local a=U(b)
if a and ao(a)==9000000000000000 then
bH[#bH+1]=b
else
local w,j=cD(a,d[2*b],d[2*b+1])
if w then E(b,w,j)elseif w==false then ai(b,j)end
end
end
return bH
`,
    ].join(''),
}

export const reserveProgram: Program = {
  sha1: '699b8bcac0788867c37beefef8cae140f8adced8',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,ab,format=struct.pack,struct.unpack,string.format
local bv=call('TIME')
local q=bv[1]*1000000+bv[2]
local bx
local function dT(q,pack,ab)
local function s(V,...)
if V=='bucket'then
`,
      bucket,
      `elseif V=='bucket-value'then
`,
      bucketValue,
      `elseif V=='block-value'then
`,
      blockValue,
      `elseif V=='bucket-flow'then
`,
      bucketFlow,
      `elseif V=='bucket-leases'then
`,
      bucketLeases,
      `elseif V=='bucket-adopt'then
`,
      bucketAdopt,
      `end
end
return s'bucket'
end
local aE,cH=#KEYS,#ARGV==9
local aq=KEYS.af or call('MGET',unpack(KEYS))
local eT=cH and aE/2 or(#ARGV-7)/4
for bS=1,eT do
if aq[cH and 2*bS or ARGV[5+4*bS]+0]then return false end
end
local i,l,o=ARGV[1]+0,ARGV[2]+0,ARGV[3]+0
local H=o*l
local as=-H%i
local aG=(H+as)/i
local ag,aJ,aS,au=ARGV[4]+0,ARGV[5]+0,ARGV[6]+0,ARGV[7]+0
local K=aJ<1099511627776 and pack('>BI7I5I4',8+aS,q,aJ,au)
local eQ=format('%d',(q+aJ+60000000+ag)/1000+1)
local aH,br={},{}
local bR,aV={},{}
local bJ,dC
local ac,bQ,ay
for bS=1,eT do
local aF,aR,aP=2*bS-1,2*bS,1
local x=8
if not cH then
x=6+4*bS
aF,aR=ARGV[x-2]+0,ARGV[x-1]+0
if aH[aR]then aP=0 end
end
if ARGV[x]~=ay then
ay,H=ARGV[x],ARGV[x]*l
bQ=H%i
ac=(H-bQ)/i
end
local t=ARGV[x+1]+0
local a=aH[aF]or aq[aF]
`,
      bucketStep,
      `if bm and cH then
call('SET',KEYS[aF],bm,'PXAT',format('%d',(j+ag)/1000+1))
elseif bm then
aH[aF],br[aF]=bm,j
end
if T>0 then
local Z=f-q+549755813888
local dG
if K and t<1099511627776 and Z>0 and Z<1099511627776 then
dG=K..pack('>I5I5',t,Z)
else
dG=pack('>BI7I7I4I7I7',10+aS,q,aJ,au,t,f-q+4503599627370496)
end
if cH then
call('SET',KEYS[aR],dG,'PXAT',eQ)
else
aH[aR]=dG
end
end
bR[bS]=T
end
for b=1,cH and 0 or aE do
local j=br[b]
if aH[b]then
call('SET',KEYS[b],aH[b],'PXAT',j and format('%d',(j+ag)/1000+1)or eQ)
end
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
  sha1: '86a763ba23773b328c79cf08c2f42e5d5e6d22d4',
  source: () =>
    [
      ``,
      clock,
      `local function s(V,...)
if V=='state'then
`,
      state,
      `elseif V=='strings'then
`,
      strings,
      `elseif V=='packed-value'then
`,
      packedValue,
      `elseif V=='sweep'then
`,
      sweep,
      `elseif V=='block-value'then
`,
      blockValue,
      `elseif V=='state-until'then
`,
      stateUntil,
      `elseif V=='bucket-value'then
`,
      bucketValue,
      `elseif V=='bucket-flow'then
`,
      bucketFlow,
      `elseif V=='bucket-leases'then
`,
      bucketLeases,
      `elseif V=='window-value'then
`,
      windowValue,
      `elseif V=='counter-value'then
`,
      counterValue,
      `elseif V=='record-value'then
`,
      recordValue,
      `end
end
local U,E=s'state'
local aE=#KEYS
local af={}
for b=1,aE do
local a=U(b)
af[b],af[aE+b]=a,a and redis.sha1hex(a)or''
end
if#d==1 then
af[2*aE+1]=q
return af
end
for b=1,aE do
if af[aE+b]~=d[4*b-2]then return 0 end
end
local F,bn,bo=s'block-value'
local ff,fZ=q+2000000,1+q%1000000000
for b=1,aE do
local a=string.gsub(d[4*b-1],'..',function(eh)
return string.char(tonumber(eh,16))
end)
local g,j=d[4*b],d[4*b+1]
if a==''then
E(b,bn(g>q and g or fZ),math.max(g,ff))
else
if string.byte(a)~=2 then a=bo(a,g)end
E(b,a,math.max(g,j,ff))
end
end
return 1
`,
    ].join(''),
}
