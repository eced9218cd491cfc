// Made from the programs beside this file by `npm run generate`; edit those, not this.

/** A program: its digest, and its text, which is put together only for a server that does not know it. */
export interface Program {
  readonly sha1: string
  readonly source: () => string
}

const clock = `local call,KEYS=redis.call,KEYS
local pack,ab=struct.pack,struct.unpack
local d=cjson.decode(ARGV[1])
local cj=d[1]
local bv=cj==0 and call('TIME')
local p=bv and bv[1]*1000000+bv[2]or cj
`

const state = `local fq,fo,aK,fr,ag,cJ=s'strings'
local dK=ARGV[2]and ARGV[2]~=''and cjson.decode(ARGV[2])
if not dK then
return fq,fo,aK,fr,ag
end
local cI,ed=s'packed-value'
local function ct(b)
if dK[2*b]<0 then return nil end
return pack('>I4I4',dK[2*b-1],dK[2*b])
end
local function U(b)
local aQ=ct(b)
if not aQ then return fq(b)end
local af=redis.pcall('HMGET',KEYS[b],aQ,'')
if af.err then return false end
return af[1]and cI(af[1],af[2]or'')
end
local function gb(J,aQ,a,j)
local L=redis.pcall('HGET',J,'')
if type(L)=='table'then call('DEL',J)end
if type(L)~='string'or#L<6 or(#L-6)%13>0 then L=false end
local co,bj=ed(a,L and string.sub(L,7)or'')
local I=L and ab('>I6',L)or 0
local bf
if cj==0 and I*1000>=j then
if#L==6+#bj then
bf=call('HSET',J,aQ,co)
else
bf=call('HSET',J,aQ,co,'',string.sub(L,1,6)..bj)
end
else
local eo=j+math.max(0,j-p)/4
bf=call('HSET',J,aQ,co,'',pack('>I6',math.max(I,math.floor(eo/1000)))..bj)
if cj~=0 and L then
call('PEXPIREAT',J,cJ(eo),'GT')
else
call('PEXPIREAT',J,cJ(eo))
end
end
if bf>0 and cj==0 and p%16==0 then
s('sweep',cI,ag)(J)
end
end
local function E(b,a,j)
local aQ=ct(b)
if aQ then return gb(KEYS[b],aQ,a,j+ag)end
fo(b,a,j)
end
local function remove(b)
local aQ=ct(b)
if not aQ then
fr(b)
elseif type(redis.pcall('HGET',KEYS[b],aQ))~='table'then
call('HDEL',KEYS[b],aQ)
end
end
return U,E,aK,remove,ag,ct
`

const strings = `local ag=(ARGV[3]or 0)+0
local function U(b)
local a=redis.pcall('GET',KEYS[b])
return type(a)=='string'and a
end
local function cJ(j)
if cj==0 then return math.floor(j/1000)+1 end
local k=call('TIME')
return k[1]*1000+math.ceil(math.max(0,j-p)/1000)+60000
end
local function E(b,a,j)
call('SET',KEYS[b],a,'PXAT',cJ(j+ag))
end
local function aK(b,j)
call('PEXPIREAT',KEYS[b],cJ(j+ag))
end
local function remove(b)
call('DEL',KEYS[b])
end
return U,E,aK,remove,ag,cJ
`

const packedValue = `local function cI(a,L)
local G=#a
if G~=13 and G~=14 then return a end
local C,u,W,o=ab('>I3I4I5B',a)
if C<6291456 or C>=10485760 or#L<6+13*o or o<1 then return a end
local i,l,q=ab('>I3I5I5',L,13*o-6)
local g=0
if G==14 then g=string.byte(a,14)end
return pack('>I3I4I3I5I3I5I5',C,u,g,W,i,l,q)
end
local function ed(a,bj)
if#a~=28 then return a,bj end
local C,u,g,W=ab('>I3I4I3I5',a)
if C<6291456 or C>=10485760 or g>255 then return a,bj end
local bH,o=string.sub(a,16),0
for m=1,#bj,13 do
if string.sub(bj,m,m+12)==bH then o=(m+12)/13 end
end
if o==0 then
if#bj>51 then return a,bj end
bj=bj..bH
o=#bj/13
end
local co=pack('>I3I4I5B',C,u,W,o)
if g>0 then co=co..string.char(g)end
return co,bj
end
return cI,ed
`

const sweep = `local cI,ag=...
local ao=s'block-value'
local ey=s'state-until'
return function(J)
local bt=call('HRANDFIELD',J,128,'WITHVALUES')
local L=call('HGET',J,'')
for o=1,#bt,2 do
local a=cI(bt[o+1],L)
local f=ao(a)
if bt[o]~=''and(ey(a)or 0)+ag<=p and f+ag<=p then call('HDEL',J,bt[o])end
end
end
`

const blockValue = `local function ao(a)
local f,M=0,a
if#a>=7 then
local C,u=ab('>I3I4',a)
if C>=14680064 then f,M=(C-14680064)*4294967296+u,string.sub(a,8)end
end
if string.byte(M)==1 then return 9000000000000000,''end
return f,M
end
local function bn(f)
local u=f%4294967296
return pack('>I3I4',14680064+(f-u)/4294967296,u)
end
local function bo(a,f)
if f+60000000<=p then return a end
return bn(f)..a
end
return ao,bn,bo
`

const stateUntil = `local ao=s'block-value'
local ch=s'bucket-value'
local Y,ar=s'bucket-flow'
local F,F,cr=s('bucket-leases',Y,ar)
local cA,F,bB=s'window-value'
local cy=s'counter-value'
local cz=s'record-value'
return function(a)
local h,g,y,r,i,l,q,F,v=ch(a,0)
if h then return cr(h,g,y,r,i,l,q,v or{})end
local n,F,D,K=cA(a)
if n then return bB(n,D,K)end
local bp,Q,F,z=cy(a)
if bp and Q>0 then return bp+z end
local F,eU=cz(a)
if eU then return eU+60000000 end
local F,M=ao(a)
if string.byte(M)==3 then return(ab('>I7',M,2))end
return bp
end
`

const bucketValue = `local ao,F,bo=s'block-value'
local function fS(g,y,r,i,l,q)
if g>=i or y>9007199254740991 or r>3200000000000000 then return false end
if l<1 or q<1 or l>9007199254 then return false end
return i*(q/1000000+2)<=9007199254740992 and q/i*l<=3200000000000000
end
local function ch(a,f)
local G=#a
local C,u,g,W,y,r,i,l,q
if G==12 then
C,u,W,i,q=ab('>I3I4I3BB',a)
g,r,l,q=0,0,1,q*1000000
elseif G==28 then
C,u,g,W,i,l,q=ab('>I3I4I3I5I3I5I5',a)
r=0
elseif G>=49 and(G-49)%28==0 then
C,u,g,y,r,i,l,q=ab('>I3I4I7I7I7I7I7I7',a)
end
if C and C>=6291456 and C<10485760 then
local h,v=(C-8388608)*4294967296+u,nil
y=y or h+W
if not fS(g,y,r,i,l,q)then return nil,nil,nil,nil,nil,nil,nil,0 end
for m=50,G,28 do
v=v or{}
v[#v+1]={ab('>I7I7I7I7',a,m)}
end
return h,g,y,r,i,l,q,f,v
end
local eA,M=ao(a)
if eA==0 or f>0 then return nil,nil,nil,nil,nil,nil,nil,0 end
if M==''then return nil,nil,nil,nil,nil,nil,nil,eA end
return ch(M,eA)
end
local function cZ(h,g,y,r,i,l,q,f,v)
local u,W=h%4294967296,y-h
local C=8388608+(h-u)/4294967296
local a
if r>0 or v or W<0 or W>=1099511627776 or i>=16777216 or q>=1099511627776 then
a=pack('>I3I4I7I7I7I7I7I7',C,u,g,y,r,i,l,q)
for F,aD in ipairs(v or{})do a=a..pack('>I7I7I7I7',aD[1],aD[2],aD[3],aD[4])end
elseif l==1 and g==0 and W<16777216 and i<256 and q<256000000 and q%1000000==0 then
a=pack('>I3I4I3BB',C,u,W,i,q/1000000)
else
a=pack('>I3I4I3I5I3I5I5',C,u,g,W,i,l,q)
end
if f>0 then return bo(a,f)end
return a
end
return ch,cZ
`

const bucketFlow = `local function Y(i,l,bF,x)
local ck=l*1000000
local dv,fc=ck%i,l%i
local H=bF%1000000
local bA=(bF-H)/1000000
local ak=x+bA*dv+H*fc
local w=ak%i
return bA*((ck-dv)/i)+H*((l-fc)/i)+(ak-w)/i,w
end
local function fl(i,l,fx,x,A)
local N=0
if A<=0 then return N end
local ek=(A-x/i)/(l*fx/i)*(1-2^-50)
if ek>0 then N=ek-ek%1 end
while true do
local aI,w=Y(i,l,(N+1)*fx,x)
if aI>A or(aI==A and w>0)then return N end
N=N+1
end
end
local function ar(h,g,i,l,bF,k)
if bF<0 then bF=0 end
local A,w=Y(i,l,bF,0)
local u,cs=k-A,0
if w>0 then u,cs=u-1,i-w end
if h>u or(h==u and g>=cs)then return h,g end
return u,cs
end
local function aL(h,g,i,l,k)
local bA=fl(i,l,1000000,g,k-h)
local aI,w=Y(i,l,bA*1000000,g)
h,g=h+aI,w
local H=fl(i,l,1,g,k-h)
return bA*1000000+H,h,g,H
end
local function by(i,l,bA)
local ck=l*1000000
local g=ck%i
local cd=g%131072
local bL=bA*((g-cd)/131072)
local B=bL%i
local da=B*131072+bA*cd
local w=da%i
return bA*((ck-g)/i)+(bL-B)/i*131072+(da-w)/i,w
end
local function bK(i,l,q,k)
return math.min(k+3155760000000000,9007199254740990-(Y(i,l,q,0)))
end
return Y,ar,aL,by,bK
`

const bucketLeases = `local Y,ar=...
local function aN(v)
local bi=0
for F,aD in ipairs(v)do bi=bi+aD[3]end
return bi
end
local function aV(h,g,i,l,q,v,k)
local bi,w=aN(v),{}
for F,aD in ipairs(v)do
if aD[4]<=k and#w==0 then
h,g=ar(h,g,i,l,q-bi,aD[4])
bi=bi-aD[3]
else
w[#w+1]=aD
end
end
if#w==0 then return h,g,nil end
h,g=ar(h,g,i,l,q-bi,k)
return h,g,w
end
local function cr(h,g,y,r,i,l,q,v)
local bi=aN(v)
for F,aD in ipairs(v)do
h,g=ar(h,g,i,l,q-bi,aD[4])
bi=bi-aD[3]
end
local aI,w=Y(i,l,q,g)
local j=h+aI
if w>0 then j=j+1 end
if r>0 and y+r>j then j=y+r end
return j
end
return aN,aV,cr
`

const windowValue = `local ao,F,bo=s'block-value'
local function cA(a)
local f,M=0,a
if#a~=21 then f,M=ao(a)end
if#M==21 then
local C,u,N,K,z=ab('>I3I4I7BI6',M)
z=K%16*281474976710656+z
if C>=10485760 and C<12582912 and z>0 then
return(C-10485760)*4294967296+u,N,z,math.floor(K/16),f
end
end
if M==a then f,M=ao(a)end
return nil,nil,nil,nil,M==''and f or 0
end
local function dx(n,N,z,K,f)
local u,cD=n%4294967296,z%281474976710656
local ez=K*16+(z-cD)/281474976710656
local a=pack('>I3I4I7BI6',10485760+(n-u)/4294967296,u,N,ez,cD)
if f>0 then return bo(a,f)end
return a
end
local function bB(n,z,K)
if K>2 then return n+z end
return n+math.ceil(z/(K==2 and 4 or K==1 and 16 or 64))
end
return cA,dx,bB
`

const counterValue = `local ao,F,bo=s'block-value'
local function cy(a)
local f,M=0,a
if#a~=28 then f,M=ao(a)end
if#M==28 then
local C,u,Q,R,aB,z=ab('>I3I4I7I7BI6',M)
z=aB%16*281474976710656+z
if C>=12582912 and C<14680064 and z>0 then
return(C-12582912)*4294967296+u,Q,R,z,math.floor(aB/16),f
end
end
if M==a then f,M=ao(a)end
return nil,nil,nil,nil,nil,M==''and f or 0
end
local function dg(n,Q,R,z,aB,f)
local u,cD=n%4294967296,z%281474976710656
local ez=aB*16+(z-cD)/281474976710656
local a=pack('>I3I4I7I7BI6',12582912+(n-u)/4294967296,u,Q,R,ez,cD)
if f>0 then return bo(a,f)end
return a
end
return cy,dg
`

const recordValue = `local eE,dy,eF=1099511627776,549755813888,4503599627370496
local function cz(a)
local bD,G=a and string.byte(a),a and#a
if not bD or bD<8 or bD>15 or G<13 then return nil end
local bc=bD%2
local bb,X=bD%4>1,bD>11
local av=bb and'I7'or'I5'
local m,A,x=ab('>I7'..av,a,2)
local cc='>I4'..av..av
if X then cc=cc..av..av end
local fv=4+(X and 4 or 2)*(bb and 7 or 5)
if(G-x+1)%fv>0 then return nil end
local H={}
for B=x,G,fv do
local au,t,Z,am,cg=ab(cc,a,B)
if not X then am,cg=t,0 end
if Z>0 then Z=m+Z-(bb and eF or dy)end
H[#H+1]={au,t,am,cg,Z}
end
return m,m+A,bc,H
end
local function dq(m,j,bc,H)
local bb,X=j-m>=eE,false
for F,O in ipairs(H)do
local t,am,cg,Z=O[2],O[3],O[4],O[5]
if am~=t or cg>0 then X=true end
if math.max(t,am,cg)>=eE or Z~=0 and(Z<=m-dy or Z>=m+dy)then bb=true end
end
local av=bb and'I7'or'I5'
local cc='>I4'..av..av
local a=pack('>BI7'..av,8+bc+(bb and 2 or 0)+(X and 4 or 0),m,j-m)
for F,O in ipairs(H)do
local Z=O[5]
if Z~=0 then Z=Z-m+(bb and eF or dy)end
a=a..pack(cc,O[1],O[2],Z)
if X then a=a..pack('>'..av..av,O[3],O[4])end
end
return a
end
return cz,dq
`

const drop = `local E,remove,ag=...
local F,bn=s'block-value'
return function(b,f)
if f>p then return E(b,bn(f),f)end
if ag>0 then return E(b,bn(1),p)end
remove(b)
end
`

const bucketChange = `local U,E,ai=...
local ch,cZ=s'bucket-value'
local Y,ar,aL,by,bK=s'bucket-flow'
local aN,aV,cr=s('bucket-leases',Y,ar)
local function cm(b,i,l,q,aG,as,go,ex)
local k,f=p,0
local a=U(b)
local h,g,y,r,v,aC
if a then
local ah,ad,an
h,g,y,r,ah,ad,an,f,v=ch(a,0)
if f==9000000000000000 then return true end
if h and(ah~=i or ad~=l or an~=q)then
local dZ=s('bucket-adopt',Y,ar,aL,by,bK,aN,aV)
h,g,y,r,v=dZ(h,g,y,r,ah,ad,an,i,l,q,v)
aC=true
end
if h and y>p then k=y end
end
if v then
aC=aC or go
h,g,v=aV(h,g,i,l,q,v,k)
end
local x,dE,aP,u=h,g,r,k-aG
if not h then
x,dE,aP=u,as,0
elseif h<u or(h==u and g<=as)then
x,dE=u,as
if r>0 and k>=y+r then aP=0 end
end
local aW,A,cT=ex(x,dE,k,v)
if not aW then
if not aC then return end
if not h then return ai(b,f)end
else
h,g,r=x,dE,aP
local at,cv=k+aG,0
if as>0 then at,cv=at-1,i-as end
local bE=bK(i,l,q,k)
if at>bE or(at==bE and cv>0)then at,cv=bE,0 end
if h>at or(h==at and g>cv)then at,cv=h,g end
local ak=g-aW*cT
local w=ak%i
h,g,y=h-aW*A+(ak-w)/i,w,k
if aW<0 and(h>at or(h==at and g>cv))then h,g=at,cv end
if v then h,g=ar(h,g,i,l,q-aN(v),k)end
end
local j=h+aG
if g>as then j=j+1 end
if r>0 and y+r>j then j=y+r end
if v then
j=cr(h,g,y,r,i,l,q,v)
elseif j<=k then
return ai(b,f)
end
if f>j then j=f end
E(b,cZ(h,g,y,r,i,l,q,f,v),j)
end
return cm,Y,aL,by
`

const bucketAdopt = `local Y,ar,aL,by,bK,aN,aV=...
local function dZ(h,g,y,r,ah,ad,an,i,l,q,v)
local k=p
if y>p then k=y end
if v then
h,g,v=aV(h,g,ah,ad,an,v,k)
end
local eS,ej=Y(ah,ad,an,0)
local aH,fL=Y(ah,ad,an,g)
local f=h+aH
if fL>0 then f=f+1 end
if r>0 and y+r>f then f=y+r end
if f<=k then return nil end
local dJ=eS
if ej>0 then dJ=eS+1 end
h,g=ar(h,g,ah,ad,an,k)
local dh=0
if h>k or(h==k and g>0)then
local ck=ad*1000000
local dv=ck%ah
dh=math.min(9007199256,math.floor((h-k+1)/((ck-dv)/ah+dv/ah))+1)
local E,gc=by(ah,ad,dh)
h,g=h-E,g-gc
if g<0 then h,g=h-1,g+ah end
end
local bF,H
bF,h,g,H=aL(h,g,ah,ad,k)
local O=(k-h)*ah-g-H*ad
local ag=0
if dh==0 and bF>=q then
bF=q
elseif O>0 then
local cd=l%131072
local bL=O*((l-cd)/131072)
local da=(bL%ad)*131072+O*cd
ag=(bL-bL%ad)/ad*131072+(da-da%ad)/ad
end
local A,cT=Y(i,l,bF,0)
local ea=cT+ag
if r>dJ then dJ=r end
h,g=k-A-(ea+(-ea)%i)/i,(-ea)%i
if dh>0 then
local fW,fX=by(i,l,dh)
h,g=h+fW,g+fX
if g>=i then h,g=h+1,g-i end
end
local bE=bK(i,l,q,k)
if h>bE or(h==bE and g>0)then h,g=bE,0 end
if v then
h,g=ar(h,g,i,l,q-aN(v),k)
end
return h,g,k,dJ,v
end
return dZ
`

const windowChange = `local U,E,ai=...
local cA,dx,bB=s'window-value'
local cW,cY,dp,dw=s('window-adopt',bB)
return function(b,e,fF)
local aj=d[e+2]
local f=0
local a=U(b)
local n,N,A,K,aC
if a then
local bz
n,N,A,K,f=cA(a)
if f==9000000000000000 then return true end
bz=n
if n then n,N,A,K,aC=cW(n,N,A,K,e)end
if bz and not n then ai(b,f)end
end
local I,bb,cE,aA=n,A,K,N
if not(n and p<n)then
I,bb,cE=cY(n,A,K,e)
aA=0
end
local ap,aJ,P
ap,aJ,P,bb,cE=dp(I,aA,bb,cE,e)
local al=fF(P,ap)
if al~=0 then
aA,aC=aJ+P-al,true
if al>0 and aA==0 and cE<4 then return ai(b,f)end
n,N,A,K=I,aA,bb,dw(cE,aA,aj)
end
if not aC then return end
E(b,dx(n,N,A,K,f),math.max(bB(n,A,K),f))
end
`

const windowAdopt = `local bB=...
local function eR(e,k)
local D=d[e+3]
if d[e+4]==1 then return k+D end
local dS=k-d[e+8]
return dS-dS%D+D+d[e+8]
end
local function cW(n,N,z,K,e)
local D=d[e+3]
if z==D and K<5 then return n,N,z,K,false end
if p>=n then
if p>=bB(n,z,K)then return nil end
return n,N,z,K,false
end
if K==6 then
if D<=z then return n,N,z,K,false end
return n,9007199254740991,D,4,true
end
if z==D then return n,N,z,4,true end
if D<z and K>=4 then return n,N,z,K,false end
local I=eR(e,p)
if D>z and d[e+4]==1 then
I=n-z+D
elseif n>I then
I=n
end
return I,N,math.max(z,D),4,true
end
local function cY(n,z,K,e)
local D,ay=d[e+3],eR(e,p)
if not n or p>=bB(n,z,K)then return ay,D,0 end
if D>z then return math.max(ay,n+z),D,4 end
if D<z and K<5 then return n+z,z,5 end
if d[e+4]~=1 and ay-D<n then ay=ay+D end
return ay,D,0
end
local function dp(n,N,z,K,e)
local aj,D,O=d[e+2],d[e+3],0
if K>=5 and D<z then
O=math.max(0,math.min(math.floor((p-n+z)/D),math.floor(z/D)-1))
end
local ap,aJ=n-z+O*D,O*aj
local P=math.max(0,N-aJ)
if K==6 or K==5 and aJ>9007199254740991-2*aj then return ap,0,P,n-ap,6 end
return ap,aJ,P,z,K
end
local function dw(K,N,aj)
if K>=4 then return K end
if N*4>aj then return 3 end
return N*16>aj and 2 or N*64>aj and 1 or 0
end
return cW,cY,dp,dw
`

const counterChange = `local U,E,ai=...
local cy,dg=s'counter-value'
local cV,cS,dt=s'counter-adopt'
return function(b,e,fG)
local D=d[e+3]
local f=0
local a=U(b)
local n,Q,R,A,aB,aC
if a then
local bz
n,Q,R,A,aB,f=cy(a)
if f==9000000000000000 then return true end
bz=n
if n then
n,Q,R,A,aB,aC=cV(n,Q,R,A,aB,e)
end
if bz and not n then ai(b,f)end
end
local aP=n and p<n
local bp,ff,ep=cS(n,Q,R,D)
if not aP then A,aB=D,0 end
local cM,dm=fG(bp,ff,ep,A,dt(bp,ep,A,e))
if cM~=0 or dm~=0 then
n,Q,R,aC=bp,ff-cM,ep-dm,true
if Q+R==0 then return ai(b,f)end
end
if not aC then return end
local j=n
if Q>0 then j=n+A end
E(b,dg(n,Q,R,A,aB,f),math.max(j,f))
end
`

const counterAdopt = `local function cS(n,Q,R,D)
if n and p<n then return n,Q,R end
if not n or p>=n+D then return p-p%D+D,0,0 end
return n+D,0,Q
end
local function cV(n,Q,R,z,aB,e)
local D=d[e+3]
if z==D then
if aB==0 or p>=n then return n,Q,R,z,aB,false end
return n,Q,R,z,0,true
end
if z>D and p<n then return n,Q,R,z,aB,false end
n,Q,R=cS(n,Q,R,z)
if z>D and aB==0 then
if R==0 then return nil end
return n,Q,R,z,1,true
end
n=n-z+D
if p>=n or Q+R==0 then return nil end
return n,Q,R,D,0,true
end
local function dt(n,R,z,e)
if R==0 then return 0 end
local cP=d[e+4]
if z~=d[e+3]then
cP=1
while z/cP>1000000 do cP=cP*10 end
end
local dP=math.floor(z/cP)
local w=math.min(dP,math.ceil((n-p)/cP))
local bA=math.floor(R/1000000)
local fn=bA*w
local bW=math.floor(fn/dP)
local g=(fn-bW*dP)*1000000+(R-bA*1000000)*w
return bW*1000000+math.ceil(g/dP)
end
return cV,cS,dt
`

const logChange = `local E,aK,ai=...
local S=s('log-value',E,aK)
local cl,cU,dd=s('log-adopt',S)
local dr,eu=s('log-refund',S,ai,E)
local function db(b,e,bg)
local bd=S.aM(b)
if bd.f==9000000000000000 then return true end
local c=cl(bd,e)
if bd.bz and not c.bz then ai(b,c.f)end
local k,B,P=cU(c,e)
if not bg(c,k,B,P)and c.eh then S.dQ(c)end
end
local function cn(c,e,B,k,ac)
S.az(c,dd(c,e,B,k,ac))
end
return db,cn,dr,eu,S
`

const logValue = `local E,aK=...
local ao=s'block-value'
local be,aX,bX,bY=47,14,64,4503599627370496
local function fd(b,f)
return{b=b,G=0,ax=0,aJ=0,m=0,ak=0,z=0,r=0,f=f,bd=0,dA=true}
end
local function fV(b)
local J,c=KEYS[b],fd(b,0)
local a=redis.pcall('GETRANGE',J,0,be+bX*aX-1)
if type(a)~='string'then return c end
local D=#a
if D==be+bX*aX then D=call('STRLEN',J)end
if D<be or string.byte(a)~=2 or(D-be)%aX>0 then
local f,M=ao(a)
if M==''then c.f=f end
return c
end
local F,f,z,r,aJ,m,ak,ax=ab('>BI7I7I7I7I7I7I4',a)
local bd=(D-be)/aX
if ax>bd or z<1 then return c end
c.bz,c.dA,c.bd,c.G=true,false,bd,bd+1
c.f,c.z,c.r,c.aJ,c.m,c.ak,c.ax=f,z,r,aJ,m,ak,ax
c.er={[0]=string.sub(a,be+1)}
return c
end
local function aZ(c,o)
if o==c.G-1 then return c.m,c.ak end
if o==c.bd then return c.fi,c.fj end
local fg=o%bX
local av=(o-fg)/bX
local dN=c.er[av]
if not dN then
local x=be+av*bX*aX
dN=call('GETRANGE',KEYS[c.b],x,x+bX*aX-1)
c.er[av]=dN
end
local m,ak=ab('>I7I7',dN,fg*aX+1)
return m,ak
end
local function aS(c,o)
if o<c.ax then return 0 end
local F,ak=aZ(c,o)
return(ak-c.aJ)%bY
end
local function cb(c,fQ,x)
local u,C=x,c.G
while u<C do
local cu=math.floor((u+C)/2)
if aZ(c,cu)>fQ then C=cu else u=cu+1 end
end
return u
end
local function di(c,ak,x)
local u,C=x,c.G
while u<C do
local cu=math.floor((u+C)/2)
if aS(c,cu)>=ak then C=cu else u=cu+1 end
end
return u
end
local function cn(c,az)
local x=az.x
c.eh,c.bz,c.z,c.r=true,true,az.z,az.r
if x==c.G then
c.dA,c.bd,c.G,c.ax,c.aJ,c.m,c.ak=true,0,1,0,0,az.k,az.ac
return
end
if x>c.ax then
local F,aJ=aZ(c,x-1)
c.aJ,c.ax=aJ,x
end
if not az.cK then
c.fi,c.fj,c.G=c.m,c.ak,c.G+1
end
c.m,c.ak=az.k,(c.ak+az.ac)%bY
end
local function fb(c,ax)
return pack('>BI7I7I7I7I7I7I4',2,c.f,c.z,c.r,c.aJ,c.m,c.ak,ax)
end
local function fa(c)
local j=c.m+c.z
if c.r>c.z then j=c.m+c.r end
if c.f>j then j=c.f end
return j
end
local function gg(c)
local j=fa(c)
local X=c.G-1>c.bd
local bf=''
if X and c.ax<=c.bd then bf=pack('>I7I7',c.fi,c.fj)end
local ax=c.ax
local bW=c.dA or c.bd<=bX or ax>c.G-ax
if bW then ax=0 end
local L=fb(c,ax)
if bW then
local ca=''
if not c.dA then
if c.bd<=bX then
ca=string.sub(c.er[0],c.ax*aX+1)
else
ca=call('GETRANGE',KEYS[c.b],be+c.ax*aX,-1)
end
end
return E(c.b,L..ca..bf,j)
end
call('SETRANGE',KEYS[c.b],0,L)
if X then call('APPEND',KEYS[c.b],bf)end
aK(c.b,j)
end
return{
be=be,
aX=aX,
bY=bY,
fU=fd,
aM=fV,
aZ=aZ,
aS=aS,
cb=cb,
di=di,
az=cn,
L=fb,
j=fa,
dQ=gg,
}
`

const logAdopt = `local S=...
local cb,aS=S.cb,S.aS
local fy=10000
local function cl(c,e)
local D=d[e+3]
if not c.bz or c.z==D then return c end
local r=c.z
if c.r>r then r=c.r end
if c.m+r<=p then
return S.fU(c.b,c.f)
end
c.z,c.eh=D,true
if r>D then c.r=r else c.r=0 end
return c
end
local function cU(c,e)
local k=p
if c.m>p then k=c.m end
local B=cb(c,k-d[e+3],c.ax)
return k,B,aS(c,c.G-1)-aS(c,B-1)
end
local function dd(c,e,B,k,ac)
local x,r,at=B,c.r,d[e+4]
if r>0 then x,at=cb(c,k-r,c.ax),fy end
local aP=c.G-x
local cK=aP>0 and c.m==k
if not cK and aP>=at then
if x<B then x=x+1 else cK=true end
end
if aP==0 then r=0 end
return{x=x,k=k,cK=cK,ac=ac,z=d[e+3],r=r}
end
return cl,cU,dd
`

const logRefund = `local S,ai,E=...
local aZ,aS,be,aX,bY=S.aZ,S.aS,S.be,S.aX,S.bY
local function ft(c,ap,aA)
local ci,ak={},(c.aJ+aS(c,ap-1))%bY
for o=ap,c.G-1 do
local g=aS(c,o)-aS(c,o-1)-(aA[o]or 0)
if g>0 then
ak=(ak+g)%bY
ci[#ci+1]={(aZ(c,o)),ak}
end
end
local bI=ap
if#ci==0 then
if ap==c.ax then return ai(c.b,c.f)end
bI=ap-1
c.m,c.ak=aZ(c,bI)
else
c.m,c.ak=unpack(ci[#ci])
end
local ca=''
if bI>c.ax then ca=call('GETRANGE',KEYS[c.b],be+c.ax*aX,be+bI*aX-1)end
for o=1,#ci-1 do ca=ca..pack('>I7I7',ci[o][1],ci[o][2])end
E(c.b,S.L(c,0)..ca,S.j(c))
end
local function ge(c,B,bh,al,bk)
local w,ap,aA=al,c.G,{}
local function dV(o)
local O=aS(c,o)-aS(c,o-1)
if O>w then O=w end
aA[o],w=O,w-O
end
if bk<0 then
while ap>B and w>0 do
ap=ap-1
dV(ap)
end
elseif bk>bh then
ap=S.cb(c,bk-1,B)
for o=ap,c.G-1 do dV(o)end
end
if w<al then ft(c,ap,aA)end
return al-w
end
return ge,ft
`

const bucketDescriptor = `local i,l,q=d[e+1],d[e+2],d[e+3]
local aG,as,ac,bO=d[e+4],d[e+5],d[e+6],d[e+7]
if d[e]==0 then
local H=aG*l
bO=H%i
ac=(H-bO)/i
H=q*l
as=-H%i
aG=(H+as)/i
end
`

const bucket = `local U,a=s'bucket-value'
local Y,ar,aL,by,bK=s'bucket-flow'
local aN,aV,j=s('bucket-leases',Y,ar)
local cF=s('bucket-adopt',Y,ar,aL,by,bK,aN,aV)
return{
U=U,
a=a,
Y=Y,
ar=ar,
aL=aL,
bK=bK,
aN=aN,
aV=aV,
j=j,
cF=cF,
}
`

const bucketStep = `local k,f,T=p,0,0
local h,g,y,r,v,aC,bm,j
if a then
local G=#a
local C,u,W,ah,ad,an,I
if G==12 then
C,u,W,ah,an=ab('>I3I4I3BB',a)
g,r,ad,an=0,0,1,an*1000000
elseif G==28 then
C,u,g,W,ah,ad,an=ab('>I3I4I3I5I3I5I5',a)
r=0
elseif G==49 then
C,u,g,I,r,ah,ad,an=ab('>I3I4I7I7I7I7I7I7',a)
end
local ds=ah==i and ad==l and an==q and r==0 and(not I or I<=9007199254740991)
if ds and C>=6291456 and C<10485504 and g<i then
h=(C-8388608)*4294967296+u
y=I or h+W
else
bw=bw or dT(p,pack,ab)
h,g,y,r,ah,ad,an,f,v=bw.U(a,0)
end
if h then
if ah~=i or ad~=l or an~=q then
h,g,y,r,v=bw.cF(h,g,y,r,ah,ad,an,i,l,q,v)
aC=h
end
if h and y>p then k=y end
if v then
h,g,v=bw.aV(h,g,i,l,q,v,k)
end
end
end
local bh=k-aG
if not h then
h,g,r=bh,as,0
elseif h<bh or(h==bh and g<=as)then
h,g=bh,as
if r>0 and k>=y+r then r=0 end
end
local aM,bE=aO,k
if f>p then aM=0 end
if bI and dC<=q-(v and bw.aN(v)or 0)then bE=k+bI end
while T<aM do
local dk,w=h+ac,g+bO
if w>=i then dk,w=dk+1,w-i end
if dk>bE or(dk==bE and w>0)then break end
h,g,T=dk,w,T+1
end
if T>0 or aC then
j=h+aG
if g>as then j=j+1 end
local W,u=k-h,h%4294967296
if r>0 or f>0 or v then
bw=bw or dT(p,pack,ab)
bm=bw.a(h,g,k,r,i,l,q,f,v)
if v then
j=bw.j(h,g,k,r,i,l,q,v)
elseif r>0 and k+r>j then
j=k+r
end
if f>j then j=f end
elseif W<0 or W>=1099511627776 or i>=16777216 or q>=1099511627776 then
bm=pack('>I3I4I7I7I7I7I7I7',8388608+(h-u)/4294967296,u,g,k,0,i,l,q)
elseif l==1 and g==0 and W<16777216 and i<256 and q<256000000 and q%1000000==0 then
bm=pack('>I3I4I3BB',8388608+(h-u)/4294967296,u,W,i,q/1000000)
else
bm=pack('>I3I4I3I5I3I5I5',8388608+(h-u)/4294967296,u,g,W,i,l,q)
end
end
`

const reply = `local eD,aE=0,#KEYS
local ba={}
for b=1,aE do
aq[b]=aq[b]or''
ba[b]=#aq[b]
end
for O=1,#bP do ba[aE+O]=bP[O]end
for o=1,#ba do
if ba[o]>eD then eD=ba[o]end
end
local L
if eD<256 and#ba<=2000 then
L=string.char(1,unpack(ba))
else
for o=1,#ba do ba[o]=pack('>I4',ba[o])end
L=string.char(4)..table.concat(ba)
end
for o=1,#aU do aU[o]=pack('>I7',aU[o])end
return L..table.concat(aq,'',1,aE)..table.concat(aU)..pack('>I7',p)
`

const window = `local cA,dx,bB=s'window-value'
local cW,cY,dp,dw=s('window-adopt',bB)
return function(a,e,aO)
local ac,aj,fp=d[e+1],d[e+2],d[e+5]
local f,T=0,0
local n,N,A,K,aC
if a then
n,N,A,K,f=cA(a)
if n then n,N,A,K,aC=cW(n,N,A,K,e)end
end
if not(n and p<n)then
n,A,K=cY(n,A,K,e)
N=0
end
local ap,aJ,P,bb,cE=dp(n,N,A,K,e)
local dD,at=p-ap,aj
if fp>0 and dD<fp then
if dD<0 then dD=0 end
local dF=math.floor(dD*d[e+6]/d[e+7])
if dF<1000000 then dF=1000000 end
if dF<at then at=dF end
end
if f>p then aO=0 end
while T<aO and P+ac<=at do
P,T=P+ac,T+1
end
if T>0 then
N,A=aJ+P,bb
K=dw(cE,N,aj)
elseif not aC then
return 0
end
local j=bB(n,A,K)
if f>j then j=f end
return T,dx(n,N,A,K,f),j
end
`

const counter = `local cy,dg=s'counter-value'
local cV,cS,dt=s'counter-adopt'
return function(a,e,aO)
local ac,aj,D=d[e+1],d[e+2],d[e+3]
local f,T,R,A,aB=0,0,0,D,0
local n,Q,aC
if a then
n,Q,R,A,aB,f=cy(a)
if n then
n,Q,R,A,aB,aC=cV(n,Q,R,A,aB,e)
end
end
if not(n and p<n)then
n,Q,R=cS(n,Q,R,D)
A,aB=D,0
end
local aw=aj-dt(n,R,A,e)
if f>p then aO=0 end
while T<aO and Q+ac<=aw do
Q,T=Q+ac,T+1
end
if T==0 and not aC then return 0 end
local j=n
if Q>0 then j=n+A end
if f>j then j=f end
return T,dg(n,Q,R,A,aB,f),j
end
`

const record = `local cz,dq=s'record-value'
local ao=s'block-value'
return function(a,e,aO,F,bT)
local F,f=cz(a)
if aO==0 or f and p<f+60000000 then return 0 end
if a and ao(a)>p then return 0 end
local N,H=d[e+3],{}
for o=1,N do
local au,t=d[e+2+2*o],d[e+3+2*o]
H[o]={au,t,t,0,bT and bT[#bT-N+o]or 0}
end
local j=p+d[e+1]
return 1,dq(p,j,d[e+2],H),j+60000000
end
`

const slots = `local ao,bn,bo=s'block-value'
local dY=4000
local function cx(a,x)
local C,u=ab('>I3I4',a,x)
return(C-2097152)*4294967296+u
end
local function bu(av)
local u=av%4294967296
return pack('>I3I4',2097152+(av-u)/4294967296,u)
end
local function et(a)
local f,M=0,a or''
if a then f,M=ao(a)end
local G=#M
if string.byte(M)~=3 or G%35~=22 then
return nil,nil,'',0,p,M==''and f or 0
end
local y,I=cx(M,9),cx(M,16)
local k,x=p,23
if y>p then k=y end
while x<G and cx(M,x+21)<=k do x=x+35 end
local P=0
for ce=x,G,35 do P=P+cx(M,ce+14)end
return y,I,string.sub(M,x),P,k,f
end
local function em(t,dj)
local x=string.find(t,dj,1,true)
while x and x%35~=1 do x=string.find(t,dj,x+1,true)end
return x
end
local function bf(t,ce,f)
local x=#t+1
while x>1 and cx(t,x-14)>f do x=x-35 end
return string.sub(t,1,x-1)..ce..string.sub(t,x)
end
local function ew(k,I,t,f)
local j=I+1
if t~=''then j=math.max(j,cx(t,#t-13))end
local a='\\3'..pack('>I7',j)..bu(k)..bu(I)..t
if f>0 then a=bo(a,f)end
return a,math.max(j,f),j
end
local function dV(a,e,aO,bZ)
local ac,aj=(bZ or 0)+d[e+1],d[e+2]
local T,bm,j=0,nil,nil
while T<aO do
local y,I,t,P,k,f=et(a)
if f>p or ac>aj then break end
local dj=bu(d[e+5])..bu(d[e+6])
if d[e+4]==0 or not em(t,dj)then
if P+ac>aj or#t>=dY*35 then break end
I=y and math.max(k,I+1)or k
local n=k+d[e+3]
t=bf(t,dj..bu(ac)..bu(n)..bu(I),n)
a,j=ew(k,I,t,f)
bm=a
end
T=T+1
end
return T,bm,j
end
local function cC(a,bL,dn)
local y,I,t,F,k,f=et(a)
local x=y and em(t,bu(bL)..bu(dn))
if not x then return nil end
t=string.sub(t,1,x-1)..string.sub(t,x+35)
local w,j,br=ew(k,I,t,f)
if br<=k then return false,f end
return w,j
end
local function dO(a,bL,dn,aI)
local y,I,t,F,k,f=et(a)
local x=y and em(t,bu(bL)..bu(dn))
if not x or k+aI<=cx(t,x+21)then return nil end
local ce=string.sub(t,x,x+20)..bu(k+aI)..string.sub(t,x+28,x+34)
t=bf(string.sub(t,1,x-1)..string.sub(t,x+35),ce,k+aI)
return ew(k,I,t,f)
end
return dV,cC,dO
`

const log = `local S=...
local aZ,aS,di=S.aZ,S.aS,S.di
local cl,cU,dd=s('log-adopt',S)
local function eP(c,e,B,I,dl,P,ac)
local o=di(c,aS(c,B-1)+P+ac-d[e+2],B)
if o<I then dl=aZ(c,o)end
return dl+d[e+3]
end
local function dW(c,e,B,I,dl,P)
local aj=d[e+2]
local cQ,cR=0,0
if aj>P then cQ=math.floor((aj-P)/1000000)end
if P>0 then cR=dl+d[e+3]-p end
local X=(cQ+1)*1000000
if X>aj then return cQ,cR,cR end
return cQ,eP(c,e,B,I,dl,P,X)-p,cR
end
local function ee(c,e,ac)
local aj=d[e+2]
local k,B,P=cU(c,e)
if ac>aj-P then
if ac>aj then return 2,0,dW(c,e,B,c.G,c.m,P)end
return 1,eP(c,e,B,c.G,k,P,ac)-p,dW(c,e,B,c.G,c.m,P)
end
local az=dd(c,e,B,k,ac)
local I=c.G
if az.cK then I=I-1 end
local cQ,gf,cR=dW(c,e,B,I,k,P+ac)
return 0,0,cQ,gf,cR,az
end
local function eC(c,e)
local F,B,P=cU(c,e)
return dW(c,e,B,c.G,c.m,P)
end
return cl,ee,eC
`

const holdChange = `local dB=...
local U,E,aK,remove,ag=s'state'
local ai=s('drop',E,remove,ag)
local ao=s'block-value'
local cz,dq=s'record-value'
local dz=9000000000000000
local cm,Y,aL,by
local cC,dO
local function gk(h,g,k,v,i,l,q,t,ae,Z)
if ae>t then
local aw=0
if h<k or(h==k and g==0)then
aw=q+aL(h,g,i,l,k)
else
local A,w=Y(i,l,q,0)
A,w=h-A,g-w
if w<0 then A,w=A-1,w+i end
aw=aL(A,w,i,l,k)
end
local X=math.min(ae-t,aw)
if X<=0 then return t end
local A,w=Y(i,l,X,0)
return t+X,-1,A,w
end
local eW,eX=h,g
if h<k then eW,eX=k,0 end
local aw,w=Y(i,l,q,0)
aw,w=aw-(eW-Z),w-eX
if w<0 then aw,w=aw-1,w+i end
if ae==t or aw<0 or(aw==0 and w==0)then return ae end
local H=(t-ae)%1000000
local bJ,cX=by(i,l,(t-ae-H)/1000000)
local X
X,cX=Y(i,l,H,cX)
bJ=bJ+X
if bJ<aw or(bJ==aw and cX<=w)then
if t-ae>2*q then bJ,cX=Y(i,l,2*q,0)end
return ae,1,bJ,cX
end
if v then
local bW
if w>0 then bW=aL(0,i-w,i,l,aw+1)else bW=aL(0,0,i,l,aw)end
aw,w=Y(i,l,bW,0)
end
return ae,1,aw,w
end
local function dR(b,e,t,ae,Z)
if not cm then cm,Y,aL,by=s('bucket-change',U,E,ai)end
local i,l,q,aG,as=dB(e)
local am
local function ex(h,g,k,v)
local aW,A,cT
am,aW,A,cT=gk(h,g,k,v,i,l,q,t,ae,Z)
return aW,A,cT
end
cm(b,i,l,q,aG,as,true,ex)
return am
end
local function gl(b,e,t,ae,F,m)
local am
s('window-change',U,E,ai)(b,e,function(P,ap)
local al=math.min(math.max(0,t-ae),P)
if m<ap then al=0 end
al=al-math.max(0,math.min(ae-t,2*d[e+2]-P))
am=t-al
return al
end)
return am
end
local function gh(b,e,t,ae,F,m)
local am
s('counter-change',U,E,ai)(b,e,function(bp,Q,R,A,ev)
local eV=m>=bp-A
local en=not eV and m>=bp-2*A
local al
if ae<t then
al=math.min(t-ae,eV and Q or en and R or 0)
else
local aj=d[e+2]
local aw=2*aj-Q-ev
if en then aw=math.min(aw,2*aj-R)end
al=-math.max(0,math.min(ae-t,aw))
end
am=t-al
if en then return 0,al end
return al,0
end)
return am
end
local function gi(b,e,t,ae,F,m)
local db,cn,dr,eu,S=s('log-change',E,aK,ai)
local am
db(b,e,function(c,k,B,P)
am=t
local bh=k-d[e+3]
if ae<t then
local aA=dr(c,B,bh,t-ae,m)
am=t-aA
return aA>0
end
local X=math.min(ae-t,2*d[e+2]-P)
if X<=0 then return end
am=t+X
local o=S.cb(c,m-1,B)
if m<=bh or o==c.G then return cn(c,e,B,k,X)end
eu(c,o,{[o]=-X})
return true
end)
return am
end
local function eK(b,fI,...)
local a=U(b)
if a and ao(a)==dz then return true end
local w,j=fI(a,...)
if w then E(b,w,j)elseif w==false then ai(b,j)end
end
local aT={[0]=dR,gl,gh,gi,dR}
local function fR(b,e)
if d[e]==3 then
local F,F,F,F,S=s('log-change',E,aK,ai)
return S.aM(b).f==dz
end
local a=U(b)
return a and ao(a)==dz
end
local function eJ(O,B,aa)
for call=1,aa do
if d[B+3*call-3]==O[1]then return B+3*call-3,call end
end
end
local function gj(J,B,aa,H,m,gp)
for F,O in ipairs(H)do
local o,call=eJ(O,B,aa)
if o then
local e,ae=d[o+1],d[o+2]
if d[e]==7 then
if eK(J+call,cC,d[B-2],d[B-1])then return true end
O[3]=0
elseif not gp then
local am=aT[d[e]](J+call,e,O[2],ae,O[5],m)
if not am then return true end
O[3],O[4]=am,math.max(0,ae-am)
end
end
end
end
local function fZ(J,B,aa,H,aI)
for call=1,aa do
local au,e=d[B+3*call-3],d[B+3*call-2]
for F,O in ipairs(H)do
if O[1]==au and d[e]==7 then
if eK(J+call,dO,d[B-2],d[B-1],aI)then return true end
break
end
end
end
end
local function fO(J,B,aa)
if aa<2 then return false end
for call=1,aa do
if fR(J+call,d[B+3*call-2])then return true end
end
end
return function(J,bx,B,aa)
local a=U(J)
if a and ao(a)==dz then return 5,0,{}end
local m,j,bc,H=cz(a)
if not m or p>=j+60000000 then return 0,0,{}end
if bc==1 then return 4,j,H end
if p>=j then
for F,O in ipairs(H)do
local o=eJ(O,B,aa)
if bx==-1 and o then O[4]=math.max(0,d[o+2]-O[3])end
end
return 3,j,H
end
if fO(J,B,aa)then return 5,0,{}end
if not cC then
local F
F,cC,dO=s'slots'
end
local dU=2
if bx<0 then
if gj(J,B,aa,H,m,bx==-2)then return 5,0,{}end
bc=1
else
if fZ(J,B,aa,H,bx)then return 5,0,{}end
dU,j=1,math.max(j,p+bx)
end
E(J,dq(m,j,bc,H),j+60000000)
return dU,j,H
end
`

export const adjustProgram: Program = {
  sha1: 'd96e84b49a1c91004acd66efc936eb5269caf20e',
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
local U,E,aK,remove,ag=s'state'
local ai=s('drop',E,remove,ag)
local function eH(b,e,aW)
local cm=s('bucket-change',U,E,ai)
`,
      bucketDescriptor,
      `return cm(b,i,l,q,aG,as,false,function(F,F,k)
if aW>0 and bk>=0 and bk<=k-aG then return nil end
return aW,ac,bO
end)
end
local function fD(b,e,aW)
local al,aj=d[e+1],d[e+2]
return s('window-change',U,E,ai)(b,e,function(P,ap)
if aW<0 then return-math.max(0,math.min(2*aj-P,al))end
if bk>=0 and bk<ap then return 0 end
return math.min(al,P)
end)
end
local function fA(b,e,aW)
local al,aj=d[e+1],d[e+2]
return s('counter-change',U,E,ai)(b,e,function(bp,Q,R,A,ev)
if aW<0 then return-math.max(0,math.min(2*aj-Q-ev,al)),0 end
if bk>=0 and bk<bp-2*A then return 0,0 end
local ap=bp-A
local cM,dm=math.min(Q,al),0
if bk>=0 and bk<ap then cM=0 end
if bk<ap then dm=math.min(R,al-cM)end
return cM,dm
end)
end
local function fB(b,e,aW)
local db,cn,dr=s('log-change',E,aK,ai)
local al=d[e+1]
return db(b,e,function(c,k,B,P)
if aW>0 then return dr(c,B,k-d[e+3],al,bk)>0 end
local bf=math.min(al,2*d[e+2]-P)
if bf>0 then cn(c,e,B,k,bf)end
end)
end
local function fC(b)
local ao=s'block-value'
local a=U(b)
return a and ao(a)==9000000000000000
end
local aT={[0]=eH,fD,fA,fB,eH,[7]=fC}
local bG={}
for o=1,d[3]do
local e=d[2+2*o]
if aT[d[e]](o,e,d[3+2*o])then bG[#bG+1]=o end
end
return bG
`,
    ].join(''),
}

export const blockProgram: Program = {
  sha1: 'a0d12229f384badb9c5bc9f24afc6eb1d47b131c',
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
local U,E,aK,remove,F,ct=s'state'
local ao,bn=s'block-value'
local ey=s'state-until'
local function gr(a)
local ch,cZ=s'bucket-value'
local Y,ar=s'bucket-flow'
local aN,aV,cr=s('bucket-leases',Y,ar)
local h,g,y,r,i,l,q,F,v=ch(a,0)
if not v then return nil,''end
local k=p
if y>p then k=y end
h,g,v=aV(h,g,i,l,q,v,k)
if not v then return nil,''end
h,g=ar(-math.huge,0,i,l,q-aN(v),k)
a=cZ(h,g,k,r,i,l,q,0,v)
return cr(h,g,k,r,i,l,q,v),a
end
local D=d[2]
local bG={}
local function fH(b)
local S=s('log-value',E,aK)
local c=S.aM(b)
if D<0 or not c.bz then return c.f,''end
c.f=0
if D>0 then c.f=p+D end
call('SETRANGE',KEYS[b],0,S.L(c,c.ax))
aK(b,S.j(c))
end
for b=1,#KEYS do
local aQ,a=ct and ct(b),nil
if aQ then a=U(b)else a=redis.pcall('GETRANGE',KEYS[b],0,2047)end
if type(a)~='string'then a=''end
if#a==2048 and string.byte(a)~=2 then a=call('GET',KEYS[b])end
local f,M,j=0,a,nil
if string.byte(a)==2 then
f,M=fH(b)
elseif a~=''then
f,M=ao(a)
j=ey(a)
if f==9000000000000000 then
f=0
if D>=0 then bG[#bG+1],M=b,nil end
elseif not j and M~=''then
f,M=0,''
end
end
if M then
if D<0 then
j,M=gr(M)
elseif D>0 then
f=p+D
else
f=0
end
if f>0 then
if M~=''then
E(b,bn(f)..M,math.max(f,j))
elseif f>p then
E(b,bn(f),f)
elseif aQ then
call('HSET',KEYS[b],aQ,bn(f))
else
call('SET',KEYS[b],bn(f),'KEEPTTL')
end
elseif M~=''then
E(b,M,j)
elseif a~=''or D<0 then
remove(b)
end
end
end
return bG
`,
    ].join(''),
}

export const bucketsProgram: Program = {
  sha1: 'ba736f28942373c83016cb767d9ee23c1e6ca402',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,ab,format=struct.pack,struct.unpack,string.format
local bv=call('TIME')
local p=bv[1]*1000000+bv[2]
local bw
local function dT(p,pack,ab)
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
local i,l,q=ARGV[1]+0,ARGV[2]+0,ARGV[3]+0
local H=ARGV[4]*l
local bO=H%i
local ac=(H-bO)/i
H=q*l
local as=-H%i
local aG=(H+as)/i
local aE,fJ,ag=#KEYS,#ARGV>5,ARGV[5]+0
local aq=KEYS.af or aE==1 and call('MGET',KEYS[1])or aE>1 and call('MGET',unpack(KEYS))or{}
local bP,aU,aO={},{},1
local bI,dC
for b=1,aE do
local a=aq[b]
if fJ then aO=ARGV[5+b]+0 end
`,
      bucketStep,
      `if bm then call('SET',KEYS[b],bm,'PXAT',format('%d',(j+ag)/1000+1))end
bP[b]=T
end
`,
      reply,
    ].join(''),
}

export const cellsProgram: Program = {
  sha1: '49d625599a373a372b8f37674312a3ff3fb37e93',
  source: () =>
    [
      ``,
      clock,
      `local eN,at=d[2],d[3]
local cf=call('INFO','server')..call('INFO','replication')
local bl=string.match(cf,'run_id:(%x+)')..'-'..string.match(cf,'master_replid:(%x+)')..'-'
local aY=call('GET',KEYS[1])
local bM=aY and string.match(aY,'^%S+')or''
if string.sub(bM,1,#bl)~=bl then bM=bl end
local bq={}
local eZ=call('ZRANGEBYSCORE',KEYS[5],math.floor(eN/64),'+inf','LIMIT',0,at+1)
for o=1,#eZ do
local bS,fE=KEYS[5]..':'..eZ[o],'('..string.format('%.0f',eN)
local X=call('ZRANGEBYSCORE',bS,fE,'+inf','LIMIT',0,at-#bq)
for au=1,#X do bq[#bq+1]=X[au]end
if#bq==at then break end
end
local af={bM,p,aY,aY and call('GET',KEYS[2]),(call('GET',KEYS[3])or 0)+0}
af[6],af[7]=#bq<at and 1 or 0,call('HLEN',KEYS[4])
local bs=#bq>0 and call('HMGET',KEYS[4],unpack(bq))
for o=1,#bq do
if bs[o]then
af[#af+1]=bq[o]
af[#af+1]=bs[o]
end
end
return af
`,
    ].join(''),
}

export const consumeProgram: Program = {
  sha1: '90a9da632555c9f1f54d1baa0ebdd28cd0b10c4d',
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
local aT,S={},nil
local function dH(du)
if du==1 then
aT[1]=s'window'
elseif du==2 then
aT[2]=s'counter'
elseif du==6 then
aT[6]=s'record'
elseif du==7 then
aT[7]=s'slots'
else
local bw
local function dT()
return s'bucket'
end
local function aF(a,e,aO,bZ)
`,
      bucketDescriptor,
      `local bI,dC
if d[e]==5 then
bI,dC=d[e+8],d[e+9]+(bZ or 0)
end
`,
      bucketStep,
      `return T,bm,j,h
end
aT[0],aT[4],aT[5]=aF,aF,aF
end
return aT[du]
end
local bU=d[3]
local U,E,aK
if ARGV[2]or cj~=0 or bU<#KEYS or bU>4000 then U,E,aK=s'state'end
local aq={}
if KEYS.af then
aq=KEYS.af
elseif ARGV[2]and ARGV[2]~=''then
for b=1,bU do aq[b]=U(b)end
elseif bU>0 then
aq=call('MGET',unpack(KEYS,1,math.min(bU,4000)))
for b=4001,bU do aq[b]=U(b)end
end
local aH,j={},{}
local bV,G={},0
local de,ec={},d[2]%2
for o=5+d[4]-(d[2]-ec)/2,4+d[4]do de[d[o]]=true end
local bP={}
local function eG(m,aa,L,y)
for o=m,m+2*aa-2,2 do
local b,e=d[o],d[o+1]
if d[e]==3 then
bV[L+3],bV[L+4],bV[L+5]=S.gq(y[b],e)
L=L+5
end
end
end
local ba={}
local function fP(e)
local aI,t=d[e+1],d[e+5]
local cD=d[e+3]==1 and aI<1099511627776 and t<1099511627776
ba[e]=cD and pack('>BI7I5I4I5',8+d[e+2],p,aI,d[e+4],t)
return ba[e]
end
local function gd(b,e,aR,bH)
local L=ba[bH]
if L==nil then L=fP(bH)end
if d[bH+3]~=1 or aH[aR]or aq[aR]or de[b]or de[aR]then return end
local T,a,br,Z=(aT[d[e]]or dH(d[e]))(aH[b]or aq[b],e,1)
if T==0 then return end
local df=(Z or 0)~=0 and Z-p+549755813888 or 0
local cc='>I5'
if not L or df<0 or df>=1099511627776 or(df==0 and(Z or 0)~=0)then
L=pack('>BI7I7I4I7',10+d[bH+2],p,d[bH+1],d[bH+4],d[bH+5])
df,cc=(Z or 0)~=0 and Z-p+4503599627370496 or 0,'>I7'
end
aH[b],j[b]=a,br
aH[aR],j[aR]=L..pack(cc,df),p+d[bH+1]+60000000
return 1
end
local fz={[0]=true,true,true,[4]=true}
local function bQ(m,aa)
if aa==2 and d[d[m+3]]==6 and fz[d[d[m+1]]]then
local T=gd(d[m],d[m+1],d[m+2],d[m+3])
if T then return T end
end
local aM=true
local aE,f,y,aA,eL,bT={},{},{},{},{},{}
local L=G
for o=m,m+2*aa-2,2 do
local b,e=d[o],d[o+1]
if d[e]==3 then
if not y[b]then y[b]=S.cF(S.fh(b),e)end
local c,ac=y[b],(aA[b]or 0)+d[e+1]
aA[b]=ac
local eq
eq,bV[G+2],bV[G+3],bV[G+4],bV[G+5],eL[b]=
S.fK(c,e,ac)
bV[G+1]=eq
G=G+5
bT[#bT+1]=0
if eq>0 or c.f>p then aM=false end
elseif aM then
local bZ=d[e]~=7 and aE[b]or aH[b]or aq[b]
local T,a,br,Z=
(aT[d[e]]or dH(d[e]))(bZ,e,1,aA[b],bT)
bT[#bT+1]=Z or 0
if T==0 then aM=false else aE[b],f[b]=a,br end
if d[e]==5 then aA[b]=(aA[b]or 0)+d[e+9]end
if d[e]==7 then aA[b]=(aA[b]or 0)+d[e+1]end
end
end
if aM then
for o=m,m+2*aa-2,2 do
if de[d[o]]and not aq[d[o]]then return 0 end
end
if ec==0 then eG(m,aa,L,y)end
for b,a in pairs(aE)do aH[b],j[b]=a,f[b]end
for b,az in pairs(eL)do S.az(b,y[b],az)end
return 1
end
eG(m,aa,L,y)
for o=m,m+2*aa-2,2 do
local b,e=d[o],d[o+1]
if d[e]~=3 then
local F,a,br=(aT[d[e]]or dH(d[e]))(aH[b]or aq[b],e,0)
if a then aH[b],j[b]=a,br end
end
end
return 0
end
if bU<#KEYS then
local bt,aM=s('log-value',E,aK),{}
local cl,ee,eC=s('log',bt)
S={
fh=function(b)
if not aM[b]then aM[b]=bt.aM(b)end
return aM[b]
end,
cF=cl,
fK=ee,
gq=eC,
az=function(b,c,az)
aM[b]=c
bt.az(c,az)
end,
dQ=function()
for F,c in pairs(aM)do
if c.eh then bt.dQ(c)end
end
end,
}
for b=bU+1,#KEYS do
local c=S.fh(b)
aq[b]=(c.bz or c.f>0)and c.f
end
end
local m,I=5+d[4],#d
while m<=I do
local aa=d[m]
local B,eO,e,aO=1,1,0,1
if aa==0 then e,B,eO,aO=d[m+1],d[m+2],d[m+3],d[m+4]end
for b=B,eO do
local T,a,br
if aa==0 then
T,a,br=(aT[d[e]]or dH(d[e]))(aH[b]or aq[b],e,aO)
if de[b]and not aq[b]then
T=0
elseif a then
aH[b],j[b]=a,br
end
else
T=bQ(m+1,aa)
end
bP[#bP+1]=T
end
m=m+5
if aa>0 then m=m-4+2*aa end
end
if ec==1 then
local I,fw
for b,a in pairs(aH)do
if E then
E(b,a,j[b])
else
if j[b]~=I then I,fw=j[b],string.format('%d',j[b]/1000+1)end
call('SET',KEYS[b],a,'PXAT',fw)
end
end
if S then S.dQ()end
end
for b=bU+1,#KEYS do aq[b]=aq[b]and pack('>I7',aq[b])end
local aU=bV
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
  sha1: '19451c10a200bdb7a144c2c426e52ee4da795c2b',
  source: () =>
    [
      `do
local call,KEYS,ARGV=redis.call,KEYS,ARGV
local sub,byte,ab=string.sub,string.byte,struct.unpack
local I=#ARGV
local ay=ARGV[I]+0
local eM=ay<0
if eM then ay=-ay end
local aY,dS=ARGV[ay+1],ARGV[ay+2]+0
local el=#KEYS
local cB=el-1
if eM then
local cf=call('INFO','server')..call('INFO','replication')
local bl=string.match(cf,'run_id:(%x+)')..'-'..string.match(cf,'master_replid:(%x+)')..'-'
local aR=call('GET',KEYS[cB])
if aR and sub(aR,1,#bl)~=bl then call('DEL',KEYS[cB])end
if sub(aY,1,#bl)~=bl then return{0}end
end
local af=call('MGET',unpack(KEYS,1,math.min(cB,4000)))
for J=4001,cB do af[J]=call('MGET',KEYS[J])[1]end
if af[cB]~=aY then return{0}end
local es=#KEYS[cB]-5
local m,eb,bN,p=ay+4,0,nil,nil
while m<I do
local i,l,q=ARGV[m]+0,ARGV[m+1]+0,ARGV[m+2]+0
local bc,B,cH=ARGV[m+3]+0,ARGV[m+4]+0,ARGV[m+5]+0
m=m+6
local N=cH>0 and cH or-cH
local bq={}
for cN=0,N-1 do
local J=KEYS[B+cN]
local x=byte(J,es)==123 and es+5 or es
bq[cN+1]=sub(J,i>0 and x or x+5)
end
local bt=call('HMGET',KEYS[el],unpack(bq,1,math.min(N,4000)))
for au=4001,N do bt[au]=call('HGET',KEYS[el],bq[au])end
for cN=0,N-1 do
eb=eb+1
local bs,a,bg=bt[cN+1],af[B+cN],cH>0 and ARGV[m+cN]or'0'
local bR
if bg=='0'then bR=not bs else bR=bs and sub(bs,1,#bg)==bg end
if bR and i>0 then
local L=a and byte(a)
if L and L>=224 then a=sub(a,8)end
local G=a and#a or 0
if G==0 then
if not p then
p=ARGV[ay+3]+0
if p==0 then
local bv=call('TIME')
p=bv[1]*1000000+bv[2]
end
end
bR=p>=bc
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
bR=C and y>=dS and dM==i and dL==l and cL==q
end
end
if not bR then
bN=bN or{}
bN[#bN+1]=eb
end
end
if cH>0 then m=m+cH end
end
if bN then return bN end
for J=#KEYS,cB,-1 do KEYS[J]=nil end
for o=I,ay+1,-1 do ARGV[o]=nil end
KEYS.af=af
end
`,
    ].join(''),
}

export const holdsProgram: Program = {
  sha1: 'bc338663fbccda377b36ccf2fb991645dfa13633',
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
local bC,E
if not ARGV[2]and#KEYS<=4000 then
bC={}
local aq=call('MGET',unpack(KEYS))
for b=1,#KEYS do bC[KEYS[b]]=aq[b]end
if cj~=0 then
local F
F,E=s'state'
end
end
local function dX(b,a,j)
bC[KEYS[b]]=a
if E then return E(b,a,j)end
call('SET',KEYS[b],a,'PXAT',string.format('%d',j/1000+1))
end
local function dB(e)
`,
      bucketDescriptor,
      `return i,l,q,aG,as
end
local R,i,l,q,aG,as
local function dR(b,e,t,ae,Z)
if e~=R then
R,i,l,q,aG,as=e,dB(e)
end
local bh,X=p-aG,(ae-t)*l
if aG>1000000000000000 or X>q*l or-X>q*l then return end
local a,h,g=bC[KEYS[b]],bh,as
local C,u
if a then
local W,I,r,ah,ad,an
if#a==12 then
C,u,W,ah,an=ab('>I3I4I3BB',a)
g,ad,an=0,1,an*1000000
elseif#a==28 then
C,u,g,W,ah,ad,an=ab('>I3I4I3I5I3I5I5',a)
elseif#a==49 then
C,u,g,I,r,ah,ad,an=ab('>I3I4I7I7I7I7I7I7',a)
if r>0 then return end
else
return
end
if ah~=i or ad~=l or an~=q or C<6291456 or C>=10485504 or g>=i then return end
h=(C-8388608)*4294967296+u
if(I or h+W)>p or h>=p then return end
if h<bh or(h==bh and g<=as)then h,g=bh,as end
end
if X==0 then return true end
if X<0 then
local T=(p-Z)*i
if T>9000000000000000 or T<-9000000000000000 then return end
local aw=q*l-T
if aw<=0 then return true end
if-X>aw then return end
end
local ak=g+X%i
local w=ak%i
h,g=h+(X-X%i)/i+(ak-w)/i,w
local W=p-h
local j=h+aG
if g>as then j=j+1 end
if j<=p then
if a then call('DEL',KEYS[b])end
bC[KEYS[b]]=false
return true
end
if W<0 then return end
u=h%4294967296
C=8388608+(h-u)/4294967296
if W>=1099511627776 or i>=16777216 or q>=1099511627776 then
dX(b,pack('>I3I4I7I7I7I7I7I7',C,u,g,p,0,i,l,q),j)
return true
end
if l==1 and g==0 and W<16777216 and i<256 and q<256000000 and q%1000000==0 then
dX(b,pack('>I3I4I3BB',C,u,W,i,q/1000000),j)
else
dX(b,pack('>I3I4I3I5I3I5I5',C,u,g,W,i,l,q),j)
end
return true
end
local function aV(J,bx,B)
local a,e=bC[KEYS[J]],d[B+1]
if bx>=0 or d[e]~=0 or not a then return end
local bD,m,A,au,t,Z=string.byte(a),nil,nil,nil,nil,0
local cd,fk=549755813888,'>I5I5'
if bD==8 and#a==27 then
m,A,au,t,Z=ab('>I7I5I4I5I5',a,2)
elseif bD==10 and#a==33 then
m,A,au,t,Z=ab('>I7I7I4I7I7',a,2)
cd,fk=4503599627370496,'>I7I7'
end
if Z==0 or au~=d[B]or p>=m+A then return end
local j,ae=m+A,bx==-1 and d[B+2]or t
if ae>=1099511627776 then return end
if bx==-1 and not dR(J+1,e,t,ae,m+Z-cd)then return end
a=string.sub(a,2)
a=ae==t and string.char(bD+1)..a or string.char(bD+5)..a..pack(fk,ae,0)
if E then
dX(J,a,j+60000000)
else
bC[KEYS[J]]=a
call('SET',KEYS[J],a,'KEEPTTL')
end
return j,t,ae
end
local bg
local aU={}
local J,cw=1,3
for F=1,d[2]do
local bx,aa=d[cw],d[cw+1]
local f,t,am
if bC and aa==1 then f,t,am=aV(J,bx,cw+4)end
if f then
aU[#aU+1]=pack('>I7I7I7I7I7',2,f,t,am,0)
else
bg=bg or s('hold-change',dB)
local dU,j,H=bg(J,bx,cw+4,aa)
aU[#aU+1]=pack('>I7I7',dU,j)
for call=1,aa do
local t,am,cg=0,0,0
for o=#H,1,-1 do
local O=H[o]
if O[1]==d[cw+3*call+1]then t,am,cg=O[2],O[3],O[4]end
end
aU[#aU+1]=pack('>I7I7I7',t,am,cg)
end
for b=J,J+aa do
local w=bC and redis.pcall('GET',KEYS[b])
if bC then bC[KEYS[b]]=type(w)=='string'and w end
end
end
J,cw=J+1+aa,cw+4+3*aa
end
return table.concat(aU)
`,
    ].join(''),
}

export const leaseProgram: Program = {
  sha1: 'a5b2e0d13f4774d9c4152404d129a9ef83bc7889',
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
local Y,ar,aL,aN=aF.Y,aF.ar,aF.aL,aF.aN
local dY=64
local function gs(v,aD)
local bZ=#v+1
for o,dn in ipairs(v)do
if dn[4]>aD[4]then
bZ=o
break
end
end
table.insert(v,bZ,aD)
return v
end
local function fN(b,a,m)
local i,l,q=d[m],d[m+1],d[m+2]
local eY,at,ce,fu,fT=d[m+3],d[m+4],d[m+5],d[m+6],d[m+7]
local k,f=p,0
local h,g,y,r,v,dc
if a then
local ah,ad,an
h,g,y,r,ah,ad,an,f,v=aF.U(a,0)
if h and(ah~=i or ad~=l or an~=q)then
h,g,y,r,v=aF.cF(h,g,y,r,ah,ad,an,i,l,q,v)
dc=true
end
if h and y>p then k=y end
end
if f>p then at=0 end
local cO,ay={},nil
local bN=false
if v then
local gn,gm,bc=aF.aV(h,g,i,l,q,v,k)
for F,aD in ipairs(bc or{})do
if aD[1]==ce then ay=aD else cO[#cO+1]=aD end
end
bN=ay and fu<=ay[2]
if not bN then h,g,v,dc=gn,gm,bc,true end
end
local cp=0
if not bN then
local aP,fs,eB=0,0,k+fT
if ay then
aP=math.min(d[m+8],ay[3])
fs=math.min(d[m+9],ay[3]-aP)
eB=math.max(eB,ay[4])
local bJ,w=Y(i,l,fs,0)
g=g-w
if g<0 then bJ,g=bJ+1,g+i end
local bi=aN(cO)+aP
h,g=ar(h-bJ,g,i,l,q-bi,k)
if y<k then y=k end
v=cO
end
local dI=0
if at>=eY and(ay or#cO<dY)then
dI=q
if h then
local fM,ej=ar(h,g,i,l,q,k)
dI=aL(fM,ej,i,l,k)
end
end
if dI>=eY then cp=math.min(at,dI)end
if cp>0 then
local u,cs=ar(-math.huge,0,i,l,q,k)
if not h then
h,g,r=u,cs,0
elseif h<u or(h==u and g<=cs)then
h,g=u,cs
if r>0 and k>=y+r then r=0 end
end
local A,w=Y(i,l,cp,g)
h,g,y=h+A,w,k
end
if aP+cp>0 then v=gs(cO,{ce,fu,aP+cp,eB})end
dc=dc or cp>0
end
if dc then
if v and#v==0 then v=nil end
if not h then
ai(b,f)
else
local j=aF.j(h,g,y,r,i,l,q,v or{})
if f>j then j=f end
E(b,aF.a(h,g,y,r,i,l,q,f,v),j)
end
end
return cp
end
local aq,aU,bP={},{},{}
for o=1,#KEYS do
aq[o]=U(o)
aU[o]=fN(o,aq[o],3+(o-1)*d[2])
end
`,
      reply,
    ].join(''),
}

export const needsProgram: Program = {
  sha1: '3fbc58c1edd43f67c547e2d5f4e165dfbaa2cc8c',
  source: () =>
    [
      ``,
      clock,
      `local ei=call('HGETALL',KEYS[1])
local af,bR={},false
for o=1,#ei,2 do
local fm,aZ=ei[o],ei[o+1]
local m=tonumber(string.match(aZ,'^%d+'))
if fm==d[2]then
bR=true
elseif p-m>d[3]or m-p>d[3]then
call('HDEL',KEYS[1],fm)
else
af[#af+1]=string.sub(aZ,18)
end
end
if d[5]==''then
call('HDEL',KEYS[1],d[2])
elseif bR or#af<d[4]then
call('HSET',KEYS[1],d[2],string.format('%016.0f ',p)..d[5])
call('PEXPIRE',KEYS[1],math.ceil(d[3]/1000))
end
return af
`,
    ].join(''),
}

export const regionProgram: Program = {
  sha1: '8600b3075867fcd7bc7d907f1c7608ae36b968af',
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
local cf=call('INFO','server')..call('INFO','replication')
local bl=string.match(cf,'run_id:(%x+)')..'-'..string.match(cf,'master_replid:(%x+)')..'-'
local aY=call('GET',KEYS[1])
local aR=aY and call('GET',KEYS[2])
if not aR then aY=''end
local b=6
local cq=#KEYS>=b
local a=cq and U(b)
local au=cq and string.sub(KEYS[b],#KEYS[1]-5)
if cq and string.byte(au)==123 then au=string.sub(au,6)end
local bs=cq and call('HGET',KEYS[4],au)
local ef=a and redis.sha1hex(a)or''
local bg=bs and tonumber(string.match(bs,'^%d+'))or 0
local bM=string.match(aY,'^%S+')or''
if string.sub(bM,1,#bl)~=bl then
local k=call('TIME')
local ga=d[3]==aY and string.sub(d[2],1,#bl)==bl
bM=ga and d[2]or bl..string.format('%x%05x',k[1],k[2])
end
local ds=d[2]==bM and d[3]==aY
if ds and cq then ds=(d[5]==ef or d[7]=='-')and d[6]==bg end
if not ds then return{bM,p,aY,aR,a,ef,bs}end
local aP=not cq or d[10]=='-'or d[10]==''
if not aP and bg==0 and call('HLEN',KEYS[4])>=d[11]then return 0 end
local av=call('INCR',KEYS[3])
if d[4]~=''then
call('SET',KEYS[1],bM..' '..av..' ')
call('SET',KEYS[2],d[4])
end
if not cq then return av end
if d[7]~='-'then
local ai=s('drop',E,remove,ag)
local F,F,bo=s'block-value'
local eI=string.gsub(d[7],'..',function(eg)
return string.char(tonumber(eg,16))
end)
local f,j=d[8],d[9]
if eI==''then ai(b,f)else E(b,bo(eI,f),math.max(f,j))end
end
if d[10]~='-'and bg>0 then
local bS=math.floor(bg/64)
call('ZREM',KEYS[5]..':'..bS,au)
if call('EXISTS',KEYS[5]..':'..bS)==0 then call('ZREM',KEYS[5],bS)end
end
if d[10]==''then
call('HDEL',KEYS[4],au)
elseif d[10]~='-'then
bs=av..' '..d[10]
call('HSET',KEYS[4],au,bs)
local bS=math.floor(av/64)
call('ZADD',KEYS[5]..':'..bS,av,au)
call('ZADD',KEYS[5],bS,bS)
end
if d[7]=='-'then return{bM,p,aY,aR,a,ef,bs}end
return av
`,
    ].join(''),
}

export const releaseProgram: Program = {
  sha1: '683960c80187f1599c17c6134a03d2a33e9d0bf2',
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
local F,cC=s'slots'
local bG={}
for b=1,#KEYS do
local a=U(b)
if a and ao(a)==9000000000000000 then
bG[#bG+1]=b
else
local w,j=cC(a,d[2*b],d[2*b+1])
if w then E(b,w,j)elseif w==false then ai(b,j)end
end
end
return bG
`,
    ].join(''),
}

export const reserveProgram: Program = {
  sha1: 'f72e189cbbadbd0caede7265cc7aca548a1db1c4',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,ab,format=struct.pack,struct.unpack,string.format
local bv=call('TIME')
local p=bv[1]*1000000+bv[2]
local bw
local function dT(p,pack,ab)
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
local aE,cG=#KEYS,#ARGV==9
local aq=KEYS.af or call('MGET',unpack(KEYS))
local eT=cG and aE/2 or(#ARGV-7)/4
for bQ=1,eT do
if aq[cG and 2*bQ or ARGV[5+4*bQ]+0]then return false end
end
local i,l,q=ARGV[1]+0,ARGV[2]+0,ARGV[3]+0
local H=q*l
local as=-H%i
local aG=(H+as)/i
local ag,aI,bc,au=ARGV[4]+0,ARGV[5]+0,ARGV[6]+0,ARGV[7]+0
local L=aI<1099511627776 and pack('>BI7I5I4',8+bc,p,aI,au)
local eQ=format('%d',(p+aI+60000000+ag)/1000+1)
local aH,br={},{}
local bP,aU={},{}
local bI,dC
local ac,bO,az
for bQ=1,eT do
local aF,aR,aO=2*bQ-1,2*bQ,1
local x=8
if not cG then
x=6+4*bQ
aF,aR=ARGV[x-2]+0,ARGV[x-1]+0
if aH[aR]then aO=0 end
end
if ARGV[x]~=az then
az,H=ARGV[x],ARGV[x]*l
bO=H%i
ac=(H-bO)/i
end
local t=ARGV[x+1]+0
local a=aH[aF]or aq[aF]
`,
      bucketStep,
      `if bm and cG then
call('SET',KEYS[aF],bm,'PXAT',format('%d',(j+ag)/1000+1))
elseif bm then
aH[aF],br[aF]=bm,j
end
if T>0 then
local Z=h-p+549755813888
local dG
if L and t<1099511627776 and Z>0 and Z<1099511627776 then
dG=L..pack('>I5I5',t,Z)
else
dG=pack('>BI7I7I4I7I7',10+bc,p,aI,au,t,h-p+4503599627370496)
end
if cG then
call('SET',KEYS[aR],dG,'PXAT',eQ)
else
aH[aR]=dG
end
end
bP[bQ]=T
end
for b=1,cG and 0 or aE do
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
  sha1: 'e46217a486021f494912a54401ee4c800f39bc53',
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
af[2*aE+1]=p
return af
end
for b=1,aE do
if af[aE+b]~=d[4*b-2]then return 0 end
end
local F,bn,bo=s'block-value'
local fe,fY=p+2000000,1+p%1000000000
for b=1,aE do
local a=string.gsub(d[4*b-1],'..',function(eg)
return string.char(tonumber(eg,16))
end)
local f,j=d[4*b],d[4*b+1]
if a==''then
E(b,bn(f>p and f or fY),math.max(f,fe))
else
if string.byte(a)~=2 then a=bo(a,f)end
E(b,a,math.max(f,j,fe))
end
end
return 1
`,
    ].join(''),
}
