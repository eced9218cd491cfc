// Made from the programs beside this file by `npm run generate`; edit those, not this.

/** A program: its digest, and its text, which is put together only for a server that does not know it. */
export interface Program {
  readonly sha1: string
  readonly source: () => string
}

const clock = `local call,KEYS=redis.call,KEYS
local pack,ac=struct.pack,struct.unpack
local d=cjson.decode(ARGV[1])
local ce=d[1]
local bJ=ce==0 and call('TIME')
local r=bJ and bJ[1]*1000000+bJ[2]or ce
`

const state = `local fb,eZ,aE,fc,ao,cF=s'strings'
local dE=ARGV[2]and ARGV[2]~=''and cjson.decode(ARGV[2])
if not dE then
return fb,eZ,aE,fc,ao
end
local cE,dU=s'packed-value'
local function cq(b)
if dE[2*b]<0 then return nil end
return pack('>I4I4',dE[2*b-1],dE[2*b])
end
local function T(b)
local aL=cq(b)
if not aL then return fb(b)end
local av=redis.pcall('HMGET',KEYS[b],aL,'')
if av.err then return false end
return av[1]and cE(av[1],av[2]or'')
end
local function fN(Q,aL,a,j)
local P=redis.pcall('HGET',Q,'')
if type(P)=='table'then call('DEL',Q)end
if type(P)~='string'or#P<6 or(#P-6)%13>0 then P=false end
local cj,be=dU(a,P and string.sub(P,7)or'')
local K=P and ac('>I6',P)or 0
local ba
if ce==0 and K*1000>=j then
if#P==6+#be then
ba=call('HSET',Q,aL,cj)
else
ba=call('HSET',Q,aL,cj,'',string.sub(P,1,6)..be)
end
else
local ee=j+math.max(0,j-r)/4
ba=call('HSET',Q,aL,cj,'',pack('>I6',math.max(K,math.floor(ee/1000)))..be)
if ce~=0 and P then
call('PEXPIREAT',Q,cF(ee),'GT')
else
call('PEXPIREAT',Q,cF(ee))
end
end
if ba>0 and ce==0 and r%16==0 then
s('sweep',cE,ao)(Q)
end
end
local function E(b,a,j)
local aL=cq(b)
if aL then return fN(KEYS[b],aL,a,j+ao)end
eZ(b,a,j)
end
local function remove(b)
local aL=cq(b)
if not aL then
fc(b)
elseif type(redis.pcall('HGET',KEYS[b],aL))~='table'then
call('HDEL',KEYS[b],aL)
end
end
return T,E,aE,remove,ao,cq
`

const strings = `local ao=(ARGV[3]or 0)+0
local function T(b)
local a=redis.pcall('GET',KEYS[b])
return type(a)=='string'and a
end
local function cF(j)
if ce==0 then return math.floor(j/1000)+1 end
local k=call('TIME')
return k[1]*1000+math.ceil(math.max(0,j-r)/1000)+60000
end
local function E(b,a,j)
call('SET',KEYS[b],a,'PXAT',cF(j+ao))
end
local function aE(b,j)
call('PEXPIREAT',KEYS[b],cF(j+ao))
end
local function remove(b)
call('DEL',KEYS[b])
end
return T,E,aE,remove,ao,cF
`

const packedValue = `local function cE(a,P)
local G=#a
if G~=13 and G~=14 then return a end
local B,u,V,p=ac('>I3I4I5B',a)
if B<6291456 or B>=10485760 or#P<6+13*p or p<1 then return a end
local i,l,o=ac('>I3I5I5',P,13*p-6)
local g=0
if G==14 then g=string.byte(a,14)end
return pack('>I3I4I3I5I3I5I5',B,u,g,V,i,l,o)
end
local function dU(a,be)
if#a~=28 then return a,be end
local B,u,g,V=ac('>I3I4I3I5',a)
if B<6291456 or B>=10485760 or g>255 then return a,be end
local bx,p=string.sub(a,16),0
for n=1,#be,13 do
if string.sub(be,n,n+12)==bx then p=(n+12)/13 end
end
if p==0 then
if#be>51 then return a,be end
be=be..bx
p=#be/13
end
local cj=pack('>I3I4I5B',B,u,V,p)
if g>0 then cj=cj..string.char(g)end
return cj,be
end
return cE,dU
`

const sweep = `local cE,ao=...
local am=s'block-value'
local eo=s'state-until'
return function(Q)
local bI=call('HRANDFIELD',Q,128,'WITHVALUES')
local P=call('HGET',Q,'')
for p=1,#bI,2 do
local a=cE(bI[p+1],P)
local f=am(a)
if bI[p]~=''and(eo(a)or 0)+ao<=r and f+ao<=r then call('HDEL',Q,bI[p])end
end
end
`

const blockValue = `local function am(a)
local f,J=0,a
if#a>=7 then
local B,u=ac('>I3I4',a)
if B>=14680064 then f,J=(B-14680064)*4294967296+u,string.sub(a,8)end
end
if string.byte(J)==1 then return 9000000000000000,''end
return f,J
end
local function bh(f)
local u=f%4294967296
return pack('>I3I4',14680064+(f-u)/4294967296,u)
end
local function bi(a,f)
if f+60000000<=r then return a end
return bh(f)..a
end
return am,bh,bi
`

const stateUntil = `local am=s'block-value'
local cb=s'bucket-value'
local X,ap=s'bucket-flow'
local F,F,co=s('bucket-leases',X,ap)
local cx,F,br=s'window-value'
local cv=s'counter-value'
local cw=s'record-value'
return function(a)
local h,g,x,q,i,l,o,F,v=cb(a,0)
if h then return co(h,g,x,q,i,l,o,v or{})end
local m,F,C,I=cx(a)
if m then return br(m,C,I)end
local bk,N,F,y=cv(a)
if bk and N>0 then return bk+y end
local F,eG=cw(a)
if eG then return eG+60000000 end
local F,J=am(a)
if string.byte(J)==3 then return(ac('>I7',J,2))end
return bk
end
`

const bucketValue = `local am,F,bi=s'block-value'
local function fE(g,x,q,i,l,o)
if g>=i or x>9007199254740991 or q>3200000000000000 then return false end
if l<1 or o<1 or l>9007199254 then return false end
return i*(o/1000000+2)<=9007199254740992 and o/i*l<=3200000000000000
end
local function cb(a,f)
local G=#a
local B,u,g,V,x,q,i,l,o
if G==12 then
B,u,V,i,o=ac('>I3I4I3BB',a)
g,q,l,o=0,0,1,o*1000000
elseif G==28 then
B,u,g,V,i,l,o=ac('>I3I4I3I5I3I5I5',a)
q=0
elseif G>=49 and(G-49)%28==0 then
B,u,g,x,q,i,l,o=ac('>I3I4I7I7I7I7I7I7',a)
end
if B and B>=6291456 and B<10485760 then
local h,v=(B-8388608)*4294967296+u,nil
x=x or h+V
if not fE(g,x,q,i,l,o)then return nil,nil,nil,nil,nil,nil,nil,0 end
for n=50,G,28 do
v=v or{}
v[#v+1]={ac('>I7I7I7I7',a,n)}
end
return h,g,x,q,i,l,o,f,v
end
local eq,J=am(a)
if eq==0 or f>0 then return nil,nil,nil,nil,nil,nil,nil,0 end
if J==''then return nil,nil,nil,nil,nil,nil,nil,eq end
return cb(J,eq)
end
local function cT(h,g,x,q,i,l,o,f,v)
local u,V=h%4294967296,x-h
local B=8388608+(h-u)/4294967296
local a
if q>0 or v or V<0 or V>=1099511627776 or i>=16777216 or o>=1099511627776 then
a=pack('>I3I4I7I7I7I7I7I7',B,u,g,x,q,i,l,o)
for F,aA in ipairs(v or{})do a=a..pack('>I7I7I7I7',aA[1],aA[2],aA[3],aA[4])end
elseif l==1 and g==0 and V<16777216 and i<256 and o<256000000 and o%1000000==0 then
a=pack('>I3I4I3BB',B,u,V,i,o/1000000)
else
a=pack('>I3I4I3I5I3I5I5',B,u,g,V,i,l,o)
end
if f>0 then return bi(a,f)end
return a
end
return cb,cT
`

const bucketFlow = `local function X(i,l,bv,A)
local cf=l*1000000
local dq,eN=cf%i,l%i
local H=bv%1000000
local bq=(bv-H)/1000000
local ai=A+bq*dq+H*eN
local w=ai%i
return bq*((cf-dq)/i)+H*((l-eN)/i)+(ai-w)/i,w
end
local function eW(i,l,fj,A,z)
local O=0
if z<=0 then return O end
local eb=(z-A/i)/(l*fj/i)*(1-2^-50)
if eb>0 then O=eb-eb%1 end
while true do
local aV,w=X(i,l,(O+1)*fj,A)
if aV>z or(aV==z and w>0)then return O end
O=O+1
end
end
local function ap(h,g,i,l,bv,k)
if bv<0 then bv=0 end
local z,w=X(i,l,bv,0)
local u,cp=k-z,0
if w>0 then u,cp=u-1,i-w end
if h>u or(h==u and g>=cp)then return h,g end
return u,cp
end
local function aF(h,g,i,l,k)
local bq=eW(i,l,1000000,g,k-h)
local aV,w=X(i,l,bq*1000000,g)
h,g=h+aV,w
local H=eW(i,l,1,g,k-h)
return bq*1000000+H,h,g,H
end
local function bo(i,l,bq)
local cf=l*1000000
local g=cf%i
local bX=g%131072
local bD=bq*((g-bX)/131072)
local D=bD%i
local cU=D*131072+bq*bX
local w=cU%i
return bq*((cf-g)/i)+(bD-D)/i*131072+(cU-w)/i,w
end
local function bB(i,l,o,k)
return math.min(k+3155760000000000,9007199254740990-(X(i,l,o,0)))
end
return X,ap,aF,bo,bB
`

const bucketLeases = `local X,ap=...
local function aI(v)
local bd=0
for F,aA in ipairs(v)do bd=bd+aA[3]end
return bd
end
local function aO(h,g,i,l,o,v,k)
local bd,w=aI(v),{}
for F,aA in ipairs(v)do
if aA[4]<=k and#w==0 then
h,g=ap(h,g,i,l,o-bd,aA[4])
bd=bd-aA[3]
else
w[#w+1]=aA
end
end
if#w==0 then return h,g,nil end
h,g=ap(h,g,i,l,o-bd,k)
return h,g,w
end
local function co(h,g,x,q,i,l,o,v)
local bd=aI(v)
for F,aA in ipairs(v)do
h,g=ap(h,g,i,l,o-bd,aA[4])
bd=bd-aA[3]
end
local aV,w=X(i,l,o,g)
local j=h+aV
if w>0 then j=j+1 end
if q>0 and x+q>j then j=x+q end
return j
end
return aI,aO,co
`

const windowValue = `local am,F,bi=s'block-value'
local function cx(a)
local f,J=0,a
if#a~=21 then f,J=am(a)end
if#J==21 then
local B,u,O,I,y=ac('>I3I4I7BI6',J)
y=I%16*281474976710656+y
if B>=10485760 and B<12582912 and y>0 then
return(B-10485760)*4294967296+u,O,y,math.floor(I/16),f
end
end
if J==a then f,J=am(a)end
return nil,nil,nil,nil,J==''and f or 0
end
local function ds(m,O,y,I,f)
local u,cz=m%4294967296,y%281474976710656
local ep=I*16+(y-cz)/281474976710656
local a=pack('>I3I4I7BI6',10485760+(m-u)/4294967296,u,O,ep,cz)
if f>0 then return bi(a,f)end
return a
end
local function br(m,y,I)
if I>2 then return m+y end
return m+math.ceil(y/(I==2 and 4 or I==1 and 16 or 64))
end
return cx,ds,br
`

const counterValue = `local am,F,bi=s'block-value'
local function cv(a)
local f,J=0,a
if#a~=28 then f,J=am(a)end
if#J==28 then
local B,u,N,S,ay,y=ac('>I3I4I7I7BI6',J)
y=ay%16*281474976710656+y
if B>=12582912 and B<14680064 and y>0 then
return(B-12582912)*4294967296+u,N,S,y,math.floor(ay/16),f
end
end
if J==a then f,J=am(a)end
return nil,nil,nil,nil,nil,J==''and f or 0
end
local function da(m,N,S,y,ay,f)
local u,cz=m%4294967296,y%281474976710656
local ep=ay*16+(y-cz)/281474976710656
local a=pack('>I3I4I7I7BI6',12582912+(m-u)/4294967296,u,N,S,ep,cz)
if f>0 then return bi(a,f)end
return a
end
return cv,da
`

const recordValue = `local eu,du,ev=1099511627776,549755813888,4503599627370496
local function cw(a)
local bs,G=a and string.byte(a),a and#a
if not bs or bs<8 or bs>15 or G<13 then return nil end
local bF=bs%2
local aU,Z=bs%4>1,bs>11
local au=aU and'I7'or'I5'
local n,z,A=ac('>I7'..au,a,2)
local bW='>I4'..au..au
if Z then bW=bW..au..au end
local fh=4+(Z and 4 or 2)*(aU and 7 or 5)
if(G-A+1)%fh>0 then return nil end
local H={}
for D=A,G,fh do
local bL,t,ae,ak,ca=ac(bW,a,D)
if not Z then ak,ca=t,0 end
if ae>0 then ae=n+ae-(aU and ev or du)end
H[#H+1]={bL,t,ak,ca,ae}
end
return n,n+z,bF,H
end
local function dk(n,j,bF,H)
local aU,Z=j-n>=eu,false
for F,L in ipairs(H)do
local t,ak,ca,ae=L[2],L[3],L[4],L[5]
if ak~=t or ca>0 then Z=true end
if math.max(t,ak,ca)>=eu or ae~=0 and(ae<=n-du or ae>=n+du)then aU=true end
end
local au=aU and'I7'or'I5'
local bW='>I4'..au..au
local a=pack('>BI7'..au,8+bF+(aU and 2 or 0)+(Z and 4 or 0),n,j-n)
for F,L in ipairs(H)do
local ae=L[5]
if ae~=0 then ae=ae-n+(aU and ev or du)end
a=a..pack(bW,L[1],L[2],ae)
if Z then a=a..pack('>'..au..au,L[3],L[4])end
end
return a
end
return cw,dk
`

const drop = `local E,remove,ao=...
local F,bh=s'block-value'
return function(b,f)
if f>r then return E(b,bh(f),f)end
if ao>0 then return E(b,bh(1),r)end
remove(b)
end
`

const bucketChange = `local T,E,ag=...
local cb,cT=s'bucket-value'
local X,ap,aF,bo,bB=s'bucket-flow'
local aI,aO,co=s('bucket-leases',X,ap)
local function ch(b,i,l,o,aG,at,ga,en)
local k,f=r,0
local a=T(b)
local h,g,x,q,v,az
if a then
local af,aa,al
h,g,x,q,af,aa,al,f,v=cb(a,0)
if f==9000000000000000 then return true end
if h and(af~=i or aa~=l or al~=o)then
local dP=s('bucket-adopt',X,ap,aF,bo,bB,aI,aO)
h,g,x,q,v=dP(h,g,x,q,af,aa,al,i,l,o,v)
az=true
end
if h and x>r then k=x end
end
if v then
az=az or ga
h,g,v=aO(h,g,i,l,o,v,k)
end
local A,dz,aK,u=h,g,q,k-aG
if not h then
A,dz,aK=u,at,0
elseif h<u or(h==u and g<=at)then
A,dz=u,at
if q>0 and k>=x+q then aK=0 end
end
local aP,z,cN=en(A,dz,k,v)
if not aP then
if not az then return end
if not h then return ag(b,f)end
else
h,g,q=A,dz,aK
local aw,cs=k+aG,0
if at>0 then aw,cs=aw-1,i-at end
local bt=bB(i,l,o,k)
if aw>bt or(aw==bt and cs>0)then aw,cs=bt,0 end
if h>aw or(h==aw and g>cs)then aw,cs=h,g end
local ai=g-aP*cN
local w=ai%i
h,g,x=h-aP*z+(ai-w)/i,w,k
if aP<0 and(h>aw or(h==aw and g>cs))then h,g=aw,cs end
if v then h,g=ap(h,g,i,l,o-aI(v),k)end
end
local j=h+aG
if g>at then j=j+1 end
if q>0 and x+q>j then j=x+q end
if v then
j=co(h,g,x,q,i,l,o,v)
elseif j<=k then
return ag(b,f)
end
if f>j then j=f end
E(b,cT(h,g,x,q,i,l,o,f,v),j)
end
return ch,X,aF,bo
`

const bucketAdopt = `local X,ap,aF,bo,bB,aI,aO=...
local function dP(h,g,x,q,af,aa,al,i,l,o,v)
local k=r
if x>r then k=x end
if v then
h,g,v=aO(h,g,af,aa,al,v,k)
end
local eF,ea=X(af,aa,al,0)
local bl,fw=X(af,aa,al,g)
local f=h+bl
if fw>0 then f=f+1 end
if q>0 and x+q>f then f=x+q end
if f<=k then return nil end
local dD=eF
if ea>0 then dD=eF+1 end
h,g=ap(h,g,af,aa,al,k)
local db=0
if h>k or(h==k and g>0)then
local cf=aa*1000000
local dq=cf%af
db=math.min(9007199256,math.floor((h-k+1)/((cf-dq)/af+dq/af))+1)
local E,fO=bo(af,aa,db)
h,g=h-E,g-fO
if g<0 then h,g=h-1,g+af end
end
local bv,H
bv,h,g,H=aF(h,g,af,aa,k)
local L=(k-h)*af-g-H*aa
local ao=0
if db==0 and bv>=o then
bv=o
elseif L>0 then
local bX=l%131072
local bD=L*((l-bX)/131072)
local cU=(bD%aa)*131072+L*bX
ao=(bD-bD%aa)/aa*131072+(cU-cU%aa)/aa
end
local z,cN=X(i,l,bv,0)
local dR=cN+ao
if q>dD then dD=q end
h,g=k-z-(dR+(-dR)%i)/i,(-dR)%i
if db>0 then
local fI,fJ=bo(i,l,db)
h,g=h+fI,g+fJ
if g>=i then h,g=h+1,g-i end
end
local bt=bB(i,l,o,k)
if h>bt or(h==bt and g>0)then h,g=bt,0 end
if v then
h,g=ap(h,g,i,l,o-aI(v),k)
end
return h,g,k,dD,v
end
return dP
`

const windowChange = `local T,E,ag=...
local cx,ds,br=s'window-value'
local cQ,cS,dj,dr=s('window-adopt',br)
return function(b,e,fq)
local ah=d[e+2]
local f=0
local a=T(b)
local m,O,z,I,az
if a then
local bp
m,O,z,I,f=cx(a)
if f==9000000000000000 then return true end
bp=m
if m then m,O,z,I,az=cQ(m,O,z,I,e)end
if bp and not m then ag(b,f)end
end
local K,aU,cA,ax=m,z,I,O
if not(m and r<m)then
K,aU,cA=cS(m,z,I,e)
ax=0
end
local an,aD,M
an,aD,M,aU,cA=dj(K,ax,aU,cA,e)
local aj=fq(M,an)
if aj~=0 then
ax,az=aD+M-aj,true
if aj>0 and ax==0 and cA<4 then return ag(b,f)end
m,O,z,I=K,ax,aU,dr(cA,ax,ah)
end
if not az then return end
E(b,ds(m,O,z,I,f),math.max(br(m,z,I),f))
end
`

const windowAdopt = `local br=...
local function eE(e,k)
local C=d[e+3]
if d[e+4]==1 then return k+C end
local fg=k-d[e+8]
return fg-fg%C+C+d[e+8]
end
local function cQ(m,O,y,I,e)
local C=d[e+3]
if y==C and I<5 then return m,O,y,I,false end
if r>=m then
if r>=br(m,y,I)then return nil end
return m,O,y,I,false
end
if I==6 then
if C<=y then return m,O,y,I,false end
return m,9007199254740991,C,4,true
end
if y==C then return m,O,y,4,true end
if C<y and I>=4 then return m,O,y,I,false end
local K=eE(e,r)
if C>y and d[e+4]==1 then
K=m-y+C
elseif m>K then
K=m
end
return K,O,math.max(y,C),4,true
end
local function cS(m,y,I,e)
local C,aX=d[e+3],eE(e,r)
if not m or r>=br(m,y,I)then return aX,C,0 end
if C>y then return math.max(aX,m+y),C,4 end
if C<y and I<5 then return m+y,y,5 end
if d[e+4]~=1 and aX-C<m then aX=aX+C end
return aX,C,0
end
local function dj(m,O,y,I,e)
local ah,C,L=d[e+2],d[e+3],0
if I>=5 and C<y then
L=math.max(0,math.min(math.floor((r-m+y)/C),math.floor(y/C)-1))
end
local an,aD=m-y+L*C,L*ah
local M=math.max(0,O-aD)
if I==6 or I==5 and aD>9007199254740991-2*ah then return an,0,M,m-an,6 end
return an,aD,M,y,I
end
local function dr(I,O,ah)
if I>=4 then return I end
if O*4>ah then return 3 end
return O*16>ah and 2 or O*64>ah and 1 or 0
end
return cQ,cS,dj,dr
`

const counterChange = `local T,E,ag=...
local cv,da=s'counter-value'
local cP,cM,dn=s'counter-adopt'
return function(b,e,fr)
local C=d[e+3]
local f=0
local a=T(b)
local m,N,S,z,ay,az
if a then
local bp
m,N,S,z,ay,f=cv(a)
if f==9000000000000000 then return true end
bp=m
if m then
m,N,S,z,ay,az=cP(m,N,S,z,ay,e)
end
if bp and not m then ag(b,f)end
end
local aK=m and r<m
local bk,eQ,ef=cM(m,N,S,C)
if not aK then z,ay=C,0 end
local cH,dh=fr(bk,eQ,ef,z,dn(bk,ef,z,e))
if cH~=0 or dh~=0 then
m,N,S,az=bk,eQ-cH,ef-dh,true
if N+S==0 then return ag(b,f)end
end
if not az then return end
local j=m
if N>0 then j=m+z end
E(b,da(m,N,S,z,ay,f),math.max(j,f))
end
`

const counterAdopt = `local function cM(m,N,S,C)
if m and r<m then return m,N,S end
if not m or r>=m+C then return r-r%C+C,0,0 end
return m+C,0,N
end
local function cP(m,N,S,y,ay,e)
local C=d[e+3]
if y==C then
if ay==0 or r>=m then return m,N,S,y,ay,false end
return m,N,S,y,0,true
end
if y>C and r<m then return m,N,S,y,ay,false end
m,N,S=cM(m,N,S,y)
if y>C and ay==0 then
if S==0 then return nil end
return m,N,S,y,1,true
end
m=m-y+C
if r>=m or N+S==0 then return nil end
return m,N,S,C,0,true
end
local function dn(m,S,y,e)
if S==0 then return 0 end
local cJ=d[e+4]
if y~=d[e+3]then
cJ=1
while y/cJ>1000000 do cJ=cJ*10 end
end
local dH=math.floor(y/cJ)
local w=math.min(dH,math.ceil((m-r)/cJ))
local bq=math.floor(S/1000000)
local eY=bq*w
local bP=math.floor(eY/dH)
local g=(eY-bP*dH)*1000000+(S-bq*1000000)*w
return bP*1000000+math.ceil(g/dH)
end
return cP,cM,dn
`

const logChange = `local E,aE,ag=...
local R=s('log-value',E,aE)
local cg,cO,cX=s('log-adopt',R)
local dl,ej=s('log-refund',R,ag,E)
local function cV(b,e,bU)
local aY=R.aH(b)
if aY.f==9000000000000000 then return true end
local c=cg(aY,e)
if aY.bp and not c.bp then ag(b,c.f)end
local k,D,M=cO(c,e)
if not bU(c,k,D,M)and c.dY then R.dJ(c)end
end
local function ci(c,e,D,k,ad)
R.aB(c,cX(c,e,D,k,ad))
end
return cV,ci,dl,ej,R
`

const logValue = `local E,aE=...
local am=s'block-value'
local aZ,aR,bQ,bR=47,14,64,4503599627370496
local function eO(b,f)
return{b=b,G=0,as=0,aD=0,n=0,ai=0,y=0,q=0,f=f,aY=0,dw=true}
end
local function fH(b)
local Q,c=KEYS[b],eO(b,0)
local a=redis.pcall('GETRANGE',Q,0,aZ+bQ*aR-1)
if type(a)~='string'then return c end
local C=#a
if C==aZ+bQ*aR then C=call('STRLEN',Q)end
if C<aZ or string.byte(a)~=2 or(C-aZ)%aR>0 then
local f,J=am(a)
if J==''then c.f=f end
return c
end
local F,f,y,q,aD,n,ai,as=ac('>BI7I7I7I7I7I7I4',a)
local aY=(C-aZ)/aR
if as>aY or y<1 then return c end
c.bp,c.dw,c.aY,c.G=true,false,aY,aY+1
c.f,c.y,c.q,c.aD,c.n,c.ai,c.as=f,y,q,aD,n,ai,as
c.eh={[0]=string.sub(a,aZ+1)}
return c
end
local function aS(c,p)
if p==c.G-1 then return c.n,c.ai end
if p==c.aY then return c.eT,c.eU end
local eR=p%bQ
local au=(p-eR)/bQ
local dF=c.eh[au]
if not dF then
local A=aZ+au*bQ*aR
dF=call('GETRANGE',KEYS[c.b],A,A+bQ*aR-1)
c.eh[au]=dF
end
local n,ai=ac('>I7I7',dF,eR*aR+1)
return n,ai
end
local function aM(c,p)
if p<c.as then return 0 end
local F,ai=aS(c,p)
return(ai-c.aD)%bR
end
local function bV(c,fC,A)
local u,B=A,c.G
while u<B do
local cr=math.floor((u+B)/2)
if aS(c,cr)>fC then B=cr else u=cr+1 end
end
return u
end
local function dc(c,ai,A)
local u,B=A,c.G
while u<B do
local cr=math.floor((u+B)/2)
if aM(c,cr)>=ai then B=cr else u=cr+1 end
end
return u
end
local function ci(c,aB)
local A=aB.A
c.dY,c.bp,c.y,c.q=true,true,aB.y,aB.q
if A==c.G then
c.dw,c.aY,c.G,c.as,c.aD,c.n,c.ai=true,0,1,0,0,aB.k,aB.ad
return
end
if A>c.as then
local F,aD=aS(c,A-1)
c.aD,c.as=aD,A
end
if not aB.cG then
c.eT,c.eU,c.G=c.n,c.ai,c.G+1
end
c.n,c.ai=aB.k,(c.ai+aB.ad)%bR
end
local function eM(c,as)
return pack('>BI7I7I7I7I7I7I4',2,c.f,c.y,c.q,c.aD,c.n,c.ai,as)
end
local function eL(c)
local j=c.n+c.y
if c.q>c.y then j=c.n+c.q end
if c.f>j then j=c.f end
return j
end
local function fS(c)
local j=eL(c)
local Z=c.G-1>c.aY
local ba=''
if Z and c.as<=c.aY then ba=pack('>I7I7',c.eT,c.eU)end
local as=c.as
local bP=c.dw or c.aY<=bQ or as>c.G-as
if bP then as=0 end
local P=eM(c,as)
if bP then
local bT=''
if not c.dw then
if c.aY<=bQ then
bT=string.sub(c.eh[0],c.as*aR+1)
else
bT=call('GETRANGE',KEYS[c.b],aZ+c.as*aR,-1)
end
end
return E(c.b,P..bT..ba,j)
end
call('SETRANGE',KEYS[c.b],0,P)
if Z then call('APPEND',KEYS[c.b],ba)end
aE(c.b,j)
end
return{
aZ=aZ,
aR=aR,
bR=bR,
fG=eO,
aH=fH,
aS=aS,
aM=aM,
bV=bV,
dc=dc,
aB=ci,
P=eM,
j=eL,
dJ=fS,
}
`

const logAdopt = `local R=...
local bV,aM=R.bV,R.aM
local fk=10000
local function cg(c,e)
local C=d[e+3]
if not c.bp or c.y==C then return c end
local q=c.y
if c.q>q then q=c.q end
if c.n+q<=r then
return R.fG(c.b,c.f)
end
c.y,c.dY=C,true
if q>C then c.q=q else c.q=0 end
return c
end
local function cO(c,e)
local k=r
if c.n>r then k=c.n end
local D=bV(c,k-d[e+3],c.as)
return k,D,aM(c,c.G-1)-aM(c,D-1)
end
local function cX(c,e,D,k,ad)
local A,q,aw=D,c.q,d[e+4]
if q>0 then A,aw=bV(c,k-q,c.as),fk end
local aK=c.G-A
local cG=aK>0 and c.n==k
if not cG and aK>=aw then
if A<D then A=A+1 else cG=true end
end
if aK==0 then q=0 end
return{A=A,k=k,cG=cG,ad=ad,y=d[e+3],q=q}
end
return cg,cO,cX
`

const logRefund = `local R,ag,E=...
local aS,aM,aZ,aR,bR=R.aS,R.aM,R.aZ,R.aR,R.bR
local function fe(c,an,ax)
local cd,ai={},(c.aD+aM(c,an-1))%bR
for p=an,c.G-1 do
local g=aM(c,p)-aM(c,p-1)-(ax[p]or 0)
if g>0 then
ai=(ai+g)%bR
cd[#cd+1]={(aS(c,p)),ai}
end
end
local bH=an
if#cd==0 then
if an==c.as then return ag(c.b,c.f)end
bH=an-1
c.n,c.ai=aS(c,bH)
else
c.n,c.ai=unpack(cd[#cd])
end
local bT=''
if bH>c.as then bT=call('GETRANGE',KEYS[c.b],aZ+c.as*aR,aZ+bH*aR-1)end
for p=1,#cd-1 do bT=bT..pack('>I7I7',cd[p][1],cd[p][2])end
E(c.b,R.P(c,0)..bT,R.j(c))
end
local function fQ(c,D,bc,aj,bf)
local w,an,ax=aj,c.G,{}
local function dM(p)
local L=aM(c,p)-aM(c,p-1)
if L>w then L=w end
ax[p],w=L,w-L
end
if bf<0 then
while an>D and w>0 do
an=an-1
dM(an)
end
elseif bf>bc then
an=R.bV(c,bf-1,D)
for p=an,c.G-1 do dM(p)end
end
if w<aj then fe(c,an,ax)end
return aj-w
end
return fQ,fe
`

const bucketDescriptor = `local i,l,o=d[e+1],d[e+2],d[e+3]
local aG,at,ad,cD=d[e+4],d[e+5],d[e+6],d[e+7]
if d[e]==0 then
local H=aG*l
cD=H%i
ad=(H-cD)/i
H=o*l
at=-H%i
aG=(H+at)/i
end
`

const bucket = `local T,a=s'bucket-value'
local X,ap,aF,bo,bB=s'bucket-flow'
local aI,aO,j=s('bucket-leases',X,ap)
local cB=s('bucket-adopt',X,ap,aF,bo,bB,aI,aO)
return{
T=T,
a=a,
X=X,
ap=ap,
aF=aF,
bB=bB,
aI=aI,
aO=aO,
j=j,
cB=cB,
}
`

const bucketStep = `local k,f,U=r,0,0
local h,g,x,q,v,az,bG,j
if a then
local G=#a
local B,u,V,af,aa,al,K
if G==12 then
B,u,V,af,al=ac('>I3I4I3BB',a)
g,q,aa,al=0,0,1,al*1000000
elseif G==28 then
B,u,g,V,af,aa,al=ac('>I3I4I3I5I3I5I5',a)
q=0
elseif G==49 then
B,u,g,K,q,af,aa,al=ac('>I3I4I7I7I7I7I7I7',a)
end
local dm=af==i and aa==l and al==o and q==0 and(not K or K<=9007199254740991)
if dm and B>=6291456 and B<10485504 and g<i then
h=(B-8388608)*4294967296+u
x=K or h+V
else
bu=bu or em(r,pack,ac)
h,g,x,q,af,aa,al,f,v=bu.T(a,0)
end
if h then
if af~=i or aa~=l or al~=o then
h,g,x,q,v=bu.cB(h,g,x,q,af,aa,al,i,l,o,v)
az=h
end
if h and x>r then k=x end
if v then
h,g,v=bu.aO(h,g,i,l,o,v,k)
end
end
end
local bc=k-aG
if not h then
h,g,q=bc,at,0
elseif h<bc or(h==bc and g<=at)then
h,g=bc,at
if q>0 and k>=x+q then q=0 end
end
local aH,bt=aQ,k
if f>r then aH=0 end
if bH and dS<=o-(v and bu.aI(v)or 0)then bt=k+bH end
while U<aH do
local df,w=h+ad,g+cD
if w>=i then df,w=df+1,w-i end
if df>bt or(df==bt and w>0)then break end
h,g,U=df,w,U+1
end
if U>0 or az then
j=h+aG
if g>at then j=j+1 end
local V,u=k-h,h%4294967296
if q>0 or f>0 or v then
bu=bu or em(r,pack,ac)
bG=bu.a(h,g,k,q,i,l,o,f,v)
if v then
j=bu.j(h,g,k,q,i,l,o,v)
elseif q>0 and k+q>j then
j=k+q
end
if f>j then j=f end
elseif V<0 or V>=1099511627776 or i>=16777216 or o>=1099511627776 then
bG=pack('>I3I4I7I7I7I7I7I7',8388608+(h-u)/4294967296,u,g,k,0,i,l,o)
elseif l==1 and g==0 and V<16777216 and i<256 and o<256000000 and o%1000000==0 then
bG=pack('>I3I4I3BB',8388608+(h-u)/4294967296,u,V,i,o/1000000)
else
bG=pack('>I3I4I3I5I3I5I5',8388608+(h-u)/4294967296,u,g,V,i,l,o)
end
end
`

const reply = `local et,aJ=0,#KEYS
local aT={}
for b=1,aJ do
aq[b]=aq[b]or''
aT[b]=#aq[b]
end
for L=1,#ck do aT[aJ+L]=ck[L]end
for p=1,#aT do
if aT[p]>et then et=aT[p]end
end
local P
if et<256 and#aT<=2000 then
P=string.char(1,unpack(aT))
else
for p=1,#aT do aT[p]=pack('>I4',aT[p])end
P=string.char(4)..table.concat(aT)
end
for p=1,#aW do aW[p]=pack('>I7',aW[p])end
return P..table.concat(aq,'',1,aJ)..table.concat(aW)..pack('>I7',r)
`

const window = `local cx,ds,br=s'window-value'
local cQ,cS,dj,dr=s('window-adopt',br)
return function(a,e,aQ)
local ad,ah,fa=d[e+1],d[e+2],d[e+5]
local f,U=0,0
local m,O,z,I,az
if a then
m,O,z,I,f=cx(a)
if m then m,O,z,I,az=cQ(m,O,z,I,e)end
end
if not(m and r<m)then
m,z,I=cS(m,z,I,e)
O=0
end
local an,aD,M,aU,cA=dj(m,O,z,I,e)
local dy,aw=r-an,ah
if fa>0 and dy<fa then
if dy<0 then dy=0 end
local dA=math.floor(dy*d[e+6]/d[e+7])
if dA<1000000 then dA=1000000 end
if dA<aw then aw=dA end
end
if f>r then aQ=0 end
while U<aQ and M+ad<=aw do
M,U=M+ad,U+1
end
if U>0 then
O,z=aD+M,aU
I=dr(cA,O,ah)
elseif not az then
return 0
end
local j=br(m,z,I)
if f>j then j=f end
return U,ds(m,O,z,I,f),j
end
`

const counter = `local cv,da=s'counter-value'
local cP,cM,dn=s'counter-adopt'
return function(a,e,aQ)
local ad,ah,C=d[e+1],d[e+2],d[e+3]
local f,U,S,z,ay=0,0,0,C,0
local m,N,az
if a then
m,N,S,z,ay,f=cv(a)
if m then
m,N,S,z,ay,az=cP(m,N,S,z,ay,e)
end
end
if not(m and r<m)then
m,N,S=cM(m,N,S,C)
z,ay=C,0
end
local ar=ah-dn(m,S,z,e)
if f>r then aQ=0 end
while U<aQ and N+ad<=ar do
N,U=N+ad,U+1
end
if U==0 and not az then return 0 end
local j=m
if N>0 then j=m+z end
if f>j then j=f end
return U,da(m,N,S,z,ay,f),j
end
`

const record = `local cw,dk=s'record-value'
local am=s'block-value'
return function(a,e,aQ,F,bK)
local F,f=cw(a)
if aQ==0 or f and r<f+60000000 then return 0 end
if a and am(a)>r then return 0 end
local O,H=d[e+3],{}
for p=1,O do
local bL,t=d[e+2+2*p],d[e+3+2*p]
H[p]={bL,t,t,0,bK and bK[#bK-O+p]or 0}
end
local j=r+d[e+1]
return 1,dk(r,j,d[e+2],H),j+60000000
end
`

const slots = `local am,bh,bi=s'block-value'
local dO=4000
local function cu(a,A)
local B,u=ac('>I3I4',a,A)
return(B-2097152)*4294967296+u
end
local function bm(au)
local u=au%4294967296
return pack('>I3I4',2097152+(au-u)/4294967296,u)
end
local function ei(a)
local f,J=0,a or''
if a then f,J=am(a)end
local G=#J
if string.byte(J)~=3 or G%35~=22 then
return nil,nil,'',0,r,J==''and f or 0
end
local x,K=cu(J,9),cu(J,16)
local k,A=r,23
if x>r then k=x end
while A<G and cu(J,A+21)<=k do A=A+35 end
local M=0
for bY=A,G,35 do M=M+cu(J,bY+14)end
return x,K,string.sub(J,A),M,k,f
end
local function ec(t,de)
local A=string.find(t,de,1,true)
while A and A%35~=1 do A=string.find(t,de,A+1,true)end
return A
end
local function ba(t,bY,f)
local A=#t+1
while A>1 and cu(t,A-14)>f do A=A-35 end
return string.sub(t,1,A-1)..bY..string.sub(t,A)
end
local function el(k,K,t,f)
local j=K+1
if t~=''then j=math.max(j,cu(t,#t-13))end
local a='\\3'..pack('>I7',j)..bm(k)..bm(K)..t
if f>0 then a=bi(a,f)end
return a,math.max(j,f),j
end
local function dM(a,e,aQ,bS)
local ad,ah=(bS or 0)+d[e+1],d[e+2]
local U,bG,j=0,nil,nil
while U<aQ do
local x,K,t,M,k,f=ei(a)
if f>r or ad>ah then break end
local de=bm(d[e+5])..bm(d[e+6])
if d[e+4]==0 or not ec(t,de)then
if M+ad>ah or#t>=dO*35 then break end
K=x and math.max(k,K+1)or k
local m=k+d[e+3]
t=ba(t,de..bm(ad)..bm(m)..bm(K),m)
a,j=el(k,K,t,f)
bG=a
end
U=U+1
end
return U,bG,j
end
local function cy(a,bD,di)
local x,K,t,F,k,f=ei(a)
local A=x and ec(t,bm(bD)..bm(di))
if not A then return nil end
t=string.sub(t,1,A-1)..string.sub(t,A+35)
local w,j,bC=el(k,K,t,f)
if bC<=k then return false,f end
return w,j
end
local function dG(a,bD,di,aV)
local x,K,t,F,k,f=ei(a)
local A=x and ec(t,bm(bD)..bm(di))
if not A or k+aV<=cu(t,A+21)then return nil end
local bY=string.sub(t,A,A+20)..bm(k+aV)..string.sub(t,A+28,A+34)
t=ba(string.sub(t,1,A-1)..string.sub(t,A+35),bY,k+aV)
return el(k,K,t,f)
end
return dM,cy,dG
`

const log = `local R=...
local aS,aM,dc=R.aS,R.aM,R.dc
local cg,cO,cX=s('log-adopt',R)
local function eD(c,e,D,K,dg,M,ad)
local p=dc(c,aM(c,D-1)+M+ad-d[e+2],D)
if p<K then dg=aS(c,p)end
return dg+d[e+3]
end
local function dN(c,e,D,K,dg,M)
local ah=d[e+2]
local cK,cL=0,0
if ah>M then cK=math.floor((ah-M)/1000000)end
if M>0 then cL=dg+d[e+3]-r end
local Z=(cK+1)*1000000
if Z>ah then return cK,cL,cL end
return cK,eD(c,e,D,K,dg,M,Z)-r,cL
end
local function dV(c,e,ad)
local ah=d[e+2]
local k,D,M=cO(c,e)
if ad>ah-M then
if ad>ah then return 2,0,dN(c,e,D,c.G,c.n,M)end
return 1,eD(c,e,D,c.G,k,M,ad)-r,dN(c,e,D,c.G,c.n,M)
end
local aB=cX(c,e,D,k,ad)
local K=c.G
if aB.cG then K=K-1 end
local cK,fR,cL=dN(c,e,D,K,k,M+ad)
return 0,0,cK,fR,cL,aB
end
local function es(c,e)
local F,D,M=cO(c,e)
return dN(c,e,D,c.G,c.n,M)
end
return cg,dV,es
`

const holdChange = `local dx=...
local T,E,aE,remove,ao=s'state'
local ag=s('drop',E,remove,ao)
local am=s'block-value'
local cw,dk=s'record-value'
local dv=9000000000000000
local ch,X,aF,bo
local cy,dG
local function fW(h,g,k,v,i,l,o,t,ab,ae)
if ab>t then
local ar=0
if h<k or(h==k and g==0)then
ar=o+aF(h,g,i,l,k)
else
local z,w=X(i,l,o,0)
z,w=h-z,g-w
if w<0 then z,w=z-1,w+i end
ar=aF(z,w,i,l,k)
end
local Z=math.min(ab-t,ar)
if Z<=0 then return t end
local z,w=X(i,l,Z,0)
return t+Z,-1,z,w
end
local eI,eJ=h,g
if h<k then eI,eJ=k,0 end
local ar,w=X(i,l,o,0)
ar,w=ar-(eI-ae),w-eJ
if w<0 then ar,w=ar-1,w+i end
if ab==t or ar<0 or(ar==0 and w==0)then return ab end
local H=(t-ab)%1000000
local by,cR=bo(i,l,(t-ab-H)/1000000)
local Z
Z,cR=X(i,l,H,cR)
by=by+Z
if by<ar or(by==ar and cR<=w)then
if t-ab>2*o then by,cR=X(i,l,2*o,0)end
return ab,1,by,cR
end
if v then
local bP
if w>0 then bP=aF(0,i-w,i,l,ar+1)else bP=aF(0,0,i,l,ar)end
ar,w=X(i,l,bP,0)
end
return ab,1,ar,w
end
local function dK(b,e,t,ab,ae)
if not ch then ch,X,aF,bo=s('bucket-change',T,E,ag)end
local i,l,o,aG,at=dx(e)
local ak
local function en(h,g,k,v)
local aP,z,cN
ak,aP,z,cN=fW(h,g,k,v,i,l,o,t,ab,ae)
return aP,z,cN
end
ch(b,i,l,o,aG,at,true,en)
return ak
end
local function fX(b,e,t,ab,F,n)
local ak
s('window-change',T,E,ag)(b,e,function(M,an)
local aj=math.min(math.max(0,t-ab),M)
if n<an then aj=0 end
aj=aj-math.max(0,math.min(ab-t,2*d[e+2]-M))
ak=t-aj
return aj
end)
return ak
end
local function fT(b,e,t,ab,F,n)
local ak
s('counter-change',T,E,ag)(b,e,function(bk,N,S,z,ek)
local eH=n>=bk-z
local ed=not eH and n>=bk-2*z
local aj
if ab<t then
aj=math.min(t-ab,eH and N or ed and S or 0)
else
local ah=d[e+2]
local ar=2*ah-N-ek
if ed then ar=math.min(ar,2*ah-S)end
aj=-math.max(0,math.min(ab-t,ar))
end
ak=t-aj
if ed then return 0,aj end
return aj,0
end)
return ak
end
local function fU(b,e,t,ab,F,n)
local cV,ci,dl,ej,R=s('log-change',E,aE,ag)
local ak
cV(b,e,function(c,k,D,M)
ak=t
local bc=k-d[e+3]
if ab<t then
local ax=dl(c,D,bc,t-ab,n)
ak=t-ax
return ax>0
end
local Z=math.min(ab-t,2*d[e+2]-M)
if Z<=0 then return end
ak=t+Z
local p=R.bV(c,n-1,D)
if n<=bc or p==c.G then return ci(c,e,D,k,Z)end
ej(c,p,{[p]=-Z})
return true
end)
return ak
end
local function eA(b,ft,...)
local a=T(b)
if a and am(a)==dv then return true end
local w,j=ft(a,...)
if w then E(b,w,j)elseif w==false then ag(b,j)end
end
local aN={[0]=dK,fX,fT,fU,dK}
local function fD(b,e)
if d[e]==3 then
local F,F,F,F,R=s('log-change',E,aE,ag)
return R.aH(b).f==dv
end
local a=T(b)
return a and am(a)==dv
end
local function ez(L,D,Y)
for call=1,Y do
if d[D+3*call-3]==L[1]then return D+3*call-3,call end
end
end
local function fV(Q,D,Y,H,n,gb)
for F,L in ipairs(H)do
local p,call=ez(L,D,Y)
if p then
local e,ab=d[p+1],d[p+2]
if d[e]==7 then
if eA(Q+call,cy,d[D-2],d[D-1])then return true end
L[3]=0
elseif not gb then
local ak=aN[d[e]](Q+call,e,L[2],ab,L[5],n)
if not ak then return true end
L[3],L[4]=ak,math.max(0,ab-ak)
end
end
end
end
local function fL(Q,D,Y,H,aV)
for call=1,Y do
local bL,e=d[D+3*call-3],d[D+3*call-2]
for F,L in ipairs(H)do
if L[1]==bL and d[e]==7 then
if eA(Q+call,dG,d[D-2],d[D-1],aV)then return true end
break
end
end
end
end
local function fA(Q,D,Y)
if Y<2 then return false end
for call=1,Y do
if fD(Q+call,d[D+3*call-2])then return true end
end
end
return function(Q,bn,D,Y)
local a=T(Q)
if a and am(a)==dv then return 5,0,{}end
local n,j,bF,H=cw(a)
if not n or r>=j+60000000 then return 0,0,{}end
if bF==1 then return 4,j,H end
if r>=j then
for F,L in ipairs(H)do
local p=ez(L,D,Y)
if bn==-1 and p then L[4]=math.max(0,d[p+2]-L[3])end
end
return 3,j,H
end
if fA(Q,D,Y)then return 5,0,{}end
if not cy then
local F
F,cy,dG=s'slots'
end
local dL=2
if bn<0 then
if fV(Q,D,Y,H,n,bn==-2)then return 5,0,{}end
bF=1
else
if fL(Q,D,Y,H,bn)then return 5,0,{}end
dL,j=1,math.max(j,r+bn)
end
E(Q,dk(n,j,bF,H),j+60000000)
return dL,j,H
end
`

export const adjustProgram: Program = {
  sha1: 'e01b1b506bdeec7f6dfa1c7b3f28ab7ec0503d77',
  source: () =>
    [
      ``,
      clock,
      `local function s(W,...)
if W=='state'then
`,
      state,
      `elseif W=='strings'then
`,
      strings,
      `elseif W=='packed-value'then
`,
      packedValue,
      `elseif W=='sweep'then
`,
      sweep,
      `elseif W=='block-value'then
`,
      blockValue,
      `elseif W=='state-until'then
`,
      stateUntil,
      `elseif W=='bucket-value'then
`,
      bucketValue,
      `elseif W=='bucket-flow'then
`,
      bucketFlow,
      `elseif W=='bucket-leases'then
`,
      bucketLeases,
      `elseif W=='window-value'then
`,
      windowValue,
      `elseif W=='counter-value'then
`,
      counterValue,
      `elseif W=='record-value'then
`,
      recordValue,
      `elseif W=='drop'then
`,
      drop,
      `elseif W=='bucket-change'then
`,
      bucketChange,
      `elseif W=='bucket-adopt'then
`,
      bucketAdopt,
      `elseif W=='window-change'then
`,
      windowChange,
      `elseif W=='window-adopt'then
`,
      windowAdopt,
      `elseif W=='counter-change'then
`,
      counterChange,
      `elseif W=='counter-adopt'then
`,
      counterAdopt,
      `elseif W=='log-change'then
`,
      logChange,
      `elseif W=='log-value'then
`,
      logValue,
      `elseif W=='log-adopt'then
`,
      logAdopt,
      `elseif W=='log-refund'then
`,
      logRefund,
      `end
end
local bf=d[2]
local T,E,aE,remove,ao=s'state'
local ag=s('drop',E,remove,ao)
local function ex(b,e,aP)
local ch=s('bucket-change',T,E,ag)
`,
      bucketDescriptor,
      `return ch(b,i,l,o,aG,at,false,function(F,F,k)
if aP>0 and bf>=0 and bf<=k-aG then return nil end
return aP,ad,cD
end)
end
local function fp(b,e,aP)
local aj,ah=d[e+1],d[e+2]
return s('window-change',T,E,ag)(b,e,function(M,an)
if aP<0 then return-math.max(0,math.min(2*ah-M,aj))end
if bf>=0 and bf<an then return 0 end
return math.min(aj,M)
end)
end
local function fm(b,e,aP)
local aj,ah=d[e+1],d[e+2]
return s('counter-change',T,E,ag)(b,e,function(bk,N,S,z,ek)
if aP<0 then return-math.max(0,math.min(2*ah-N-ek,aj)),0 end
if bf>=0 and bf<bk-2*z then return 0,0 end
local an=bk-z
local cH,dh=math.min(N,aj),0
if bf>=0 and bf<an then cH=0 end
if bf<an then dh=math.min(S,aj-cH)end
return cH,dh
end)
end
local function fn(b,e,aP)
local cV,ci,dl=s('log-change',E,aE,ag)
local aj=d[e+1]
return cV(b,e,function(c,k,D,M)
if aP>0 then return dl(c,D,k-d[e+3],aj,bf)>0 end
local ba=math.min(aj,2*d[e+2]-M)
if ba>0 then ci(c,e,D,k,ba)end
end)
end
local function fo(b)
local am=s'block-value'
local a=T(b)
return a and am(a)==9000000000000000
end
local aN={[0]=ex,fp,fm,fn,ex,[7]=fo}
local bw={}
for p=1,d[3]do
local e=d[2+2*p]
if aN[d[e]](p,e,d[3+2*p])then bw[#bw+1]=p end
end
return bw
`,
    ].join(''),
}

export const blockProgram: Program = {
  sha1: '2997bc3b05fef50a36080904155083d4453a2e26',
  source: () =>
    [
      ``,
      clock,
      `local function s(W,...)
if W=='state'then
`,
      state,
      `elseif W=='strings'then
`,
      strings,
      `elseif W=='packed-value'then
`,
      packedValue,
      `elseif W=='sweep'then
`,
      sweep,
      `elseif W=='block-value'then
`,
      blockValue,
      `elseif W=='state-until'then
`,
      stateUntil,
      `elseif W=='bucket-value'then
`,
      bucketValue,
      `elseif W=='bucket-flow'then
`,
      bucketFlow,
      `elseif W=='bucket-leases'then
`,
      bucketLeases,
      `elseif W=='window-value'then
`,
      windowValue,
      `elseif W=='counter-value'then
`,
      counterValue,
      `elseif W=='record-value'then
`,
      recordValue,
      `elseif W=='log-value'then
`,
      logValue,
      `end
end
local T,E,aE,remove,F,cq=s'state'
local am,bh=s'block-value'
local eo=s'state-until'
local function gd(a)
local cb,cT=s'bucket-value'
local X,ap=s'bucket-flow'
local aI,aO,co=s('bucket-leases',X,ap)
local h,g,x,q,i,l,o,F,v=cb(a,0)
if not v then return nil,''end
local k=r
if x>r then k=x end
h,g,v=aO(h,g,i,l,o,v,k)
if not v then return nil,''end
h,g=ap(-math.huge,0,i,l,o-aI(v),k)
a=cT(h,g,k,q,i,l,o,0,v)
return co(h,g,k,q,i,l,o,v),a
end
local C=d[2]
local bw={}
local function fs(b)
local R=s('log-value',E,aE)
local c=R.aH(b)
if C<0 or not c.bp then return c.f,''end
c.f=0
if C>0 then c.f=r+C end
call('SETRANGE',KEYS[b],0,R.P(c,c.as))
aE(b,R.j(c))
end
for b=1,#KEYS do
local aL,a=cq and cq(b),nil
if aL then a=T(b)else a=redis.pcall('GETRANGE',KEYS[b],0,2047)end
if type(a)~='string'then a=''end
if#a==2048 and string.byte(a)~=2 then a=call('GET',KEYS[b])end
local f,J,j=0,a,nil
if string.byte(a)==2 then
f,J=fs(b)
elseif a~=''then
f,J=am(a)
j=eo(a)
if f==9000000000000000 then
f=0
if C>=0 then bw[#bw+1],J=b,nil end
elseif not j and J~=''then
f,J=0,''
end
end
if J then
if C<0 then
j,J=gd(J)
elseif C>0 then
f=r+C
else
f=0
end
if f>0 then
if J~=''then
E(b,bh(f)..J,math.max(f,j))
elseif f>r then
E(b,bh(f),f)
elseif aL then
call('HSET',KEYS[b],aL,bh(f))
else
call('SET',KEYS[b],bh(f),'KEEPTTL')
end
elseif J~=''then
E(b,J,j)
elseif a~=''or C<0 then
remove(b)
end
end
end
return bw
`,
    ].join(''),
}

export const bucketsProgram: Program = {
  sha1: '638c3610543b2cfbbb93a353a508ce62cbdf1402',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,ac,format=struct.pack,struct.unpack,string.format
local bJ=call('TIME')
local r=bJ[1]*1000000+bJ[2]
local bu
local function em(r,pack,ac)
local function s(W,...)
if W=='bucket'then
`,
      bucket,
      `elseif W=='bucket-value'then
`,
      bucketValue,
      `elseif W=='block-value'then
`,
      blockValue,
      `elseif W=='bucket-flow'then
`,
      bucketFlow,
      `elseif W=='bucket-leases'then
`,
      bucketLeases,
      `elseif W=='bucket-adopt'then
`,
      bucketAdopt,
      `end
end
return s'bucket'
end
local i,l,o=ARGV[1]+0,ARGV[2]+0,ARGV[3]+0
local H=ARGV[4]*l
local cD=H%i
local ad=(H-cD)/i
H=o*l
local at=-H%i
local aG=(H+at)/i
local aJ,fu,ao=#KEYS,#ARGV>5,ARGV[5]+0
local aq={}
if aJ==1 then
aq=call('MGET',KEYS[1])
elseif aJ>1 then
aq=call('MGET',unpack(KEYS))
end
local ck,aW,aQ={},{},1
local bH,dS
for b=1,aJ do
local a=aq[b]
if fu then aQ=ARGV[5+b]+0 end
`,
      bucketStep,
      `if bG then call('SET',KEYS[b],bG,'PXAT',format('%d',(j+ao)/1000+1))end
ck[b]=U
end
`,
      reply,
    ].join(''),
}

export const cellsProgram: Program = {
  sha1: 'd445ce4966a63425c1d23c58016e97e0cf24fddb',
  source: () =>
    [
      ``,
      clock,
      `local bZ=call('INFO','server')..call('INFO','replication')
local bg=string.match(bZ,'run_id:(%x+)')..'-'..string.match(bZ,'master_replid:(%x+)')..'-'
local aC=call('GET',KEYS[1])
local bE=aC and string.match(aC,'^%S+')or''
if string.sub(bE,1,#bg)~=bg then bE=bg end
local cm=call('ZRANGEBYSCORE',KEYS[3],'('..string.format('%.0f',d[2]),'+inf','LIMIT',0,d[3])
local av={bE,r,aC,(call('GET',KEYS[2])or 0)+0,#cm<d[3]and 1 or 0,call('ZCARD',KEYS[3])}
for p=1,#cm do av[6+p]=call('GET',cm[p])end
return av
`,
    ].join(''),
}

export const consumeProgram: Program = {
  sha1: 'de162a78f487d49b04c8c55d6c9e25cead8dba53',
  source: () =>
    [
      ``,
      clock,
      `local function s(W,...)
if W=='window'then
`,
      window,
      `elseif W=='window-value'then
`,
      windowValue,
      `elseif W=='block-value'then
`,
      blockValue,
      `elseif W=='window-adopt'then
`,
      windowAdopt,
      `elseif W=='counter'then
`,
      counter,
      `elseif W=='counter-value'then
`,
      counterValue,
      `elseif W=='counter-adopt'then
`,
      counterAdopt,
      `elseif W=='record'then
`,
      record,
      `elseif W=='record-value'then
`,
      recordValue,
      `elseif W=='slots'then
`,
      slots,
      `elseif W=='bucket'then
`,
      bucket,
      `elseif W=='bucket-value'then
`,
      bucketValue,
      `elseif W=='bucket-flow'then
`,
      bucketFlow,
      `elseif W=='bucket-leases'then
`,
      bucketLeases,
      `elseif W=='bucket-adopt'then
`,
      bucketAdopt,
      `elseif W=='state'then
`,
      state,
      `elseif W=='strings'then
`,
      strings,
      `elseif W=='packed-value'then
`,
      packedValue,
      `elseif W=='sweep'then
`,
      sweep,
      `elseif W=='state-until'then
`,
      stateUntil,
      `elseif W=='log-value'then
`,
      logValue,
      `elseif W=='log'then
`,
      log,
      `elseif W=='log-adopt'then
`,
      logAdopt,
      `end
end
local aN,R={},nil
local function dB(dp)
if dp==1 then
aN[1]=s'window'
elseif dp==2 then
aN[2]=s'counter'
elseif dp==6 then
aN[6]=s'record'
elseif dp==7 then
aN[7]=s'slots'
else
local bu
local function em()
return s'bucket'
end
local function bj(a,e,aQ,bS)
`,
      bucketDescriptor,
      `local bH,dS
if d[e]==5 then
bH,dS=d[e+8],d[e+9]+(bS or 0)
end
`,
      bucketStep,
      `return U,bG,j,h
end
aN[0],aN[4],aN[5]=bj,bj,bj
end
return aN[dp]
end
local bM=d[3]
local T,E,aE
if ARGV[2]or ce~=0 or bM<#KEYS or bM>4000 then T,E,aE=s'state'end
local aq={}
if ARGV[2]and ARGV[2]~=''then
for b=1,bM do aq[b]=T(b)end
elseif bM>0 then
aq=call('MGET',unpack(KEYS,1,math.min(bM,4000)))
for b=4001,bM do aq[b]=T(b)end
end
local bl,j={},{}
local bO,G={},0
local cY,dT={},d[2]%2
for p=5+d[4]-(d[2]-dT)/2,4+d[4]do cY[d[p]]=true end
local ck={}
local function ew(n,Y,P,x)
for p=n,n+2*Y-2,2 do
local b,e=d[p],d[p+1]
if d[e]==3 then
bO[P+3],bO[P+4],bO[P+5]=R.gc(x[b],e)
P=P+5
end
end
end
local aT={}
local function fB(e)
local aV,t=d[e+1],d[e+5]
local cz=d[e+3]==1 and aV<1099511627776 and t<1099511627776
aT[e]=cz and pack('>BI7I5I4I5',8+d[e+2],r,aV,d[e+4],t)
return aT[e]
end
local function fP(b,e,aC,bx)
local P=aT[bx]
if P==nil then P=fB(bx)end
if d[bx+3]~=1 or bl[aC]or aq[aC]or cY[b]or cY[aC]then return end
local U,a,bC,ae=(aN[d[e]]or dB(d[e]))(bl[b]or aq[b],e,1)
if U==0 then return end
local cZ=(ae or 0)~=0 and ae-r+549755813888 or 0
local bW='>I5'
if not P or cZ<0 or cZ>=1099511627776 or(cZ==0 and(ae or 0)~=0)then
P=pack('>BI7I7I4I7',10+d[bx+2],r,d[bx+1],d[bx+4],d[bx+5])
cZ,bW=(ae or 0)~=0 and ae-r+4503599627370496 or 0,'>I7'
end
bl[b],j[b]=a,bC
bl[aC],j[aC]=P..pack(bW,cZ),r+d[bx+1]+60000000
return 1
end
local fl={[0]=true,true,true,[4]=true}
local function fz(n,Y)
if Y==2 and d[d[n+3]]==6 and fl[d[d[n+1]]]then
local U=fP(d[n],d[n+1],d[n+2],d[n+3])
if U then return U end
end
local aH=true
local aJ,f,x,ax,eB,bK={},{},{},{},{},{}
local P=G
for p=n,n+2*Y-2,2 do
local b,e=d[p],d[p+1]
if d[e]==3 then
if not x[b]then x[b]=R.cB(R.eS(b),e)end
local c,ad=x[b],(ax[b]or 0)+d[e+1]
ax[b]=ad
local eg
eg,bO[G+2],bO[G+3],bO[G+4],bO[G+5],eB[b]=
R.fv(c,e,ad)
bO[G+1]=eg
G=G+5
bK[#bK+1]=0
if eg>0 or c.f>r then aH=false end
elseif aH then
local bS=d[e]~=7 and aJ[b]or bl[b]or aq[b]
local U,a,bC,ae=
(aN[d[e]]or dB(d[e]))(bS,e,1,ax[b],bK)
bK[#bK+1]=ae or 0
if U==0 then aH=false else aJ[b],f[b]=a,bC end
if d[e]==5 then ax[b]=(ax[b]or 0)+d[e+9]end
if d[e]==7 then ax[b]=(ax[b]or 0)+d[e+1]end
end
end
if aH then
for p=n,n+2*Y-2,2 do
if cY[d[p]]and not aq[d[p]]then return 0 end
end
if dT==0 then ew(n,Y,P,x)end
for b,a in pairs(aJ)do bl[b],j[b]=a,f[b]end
for b,aB in pairs(eB)do R.aB(b,x[b],aB)end
return 1
end
ew(n,Y,P,x)
for p=n,n+2*Y-2,2 do
local b,e=d[p],d[p+1]
if d[e]~=3 then
local F,a,bC=(aN[d[e]]or dB(d[e]))(bl[b]or aq[b],e,0)
if a then bl[b],j[b]=a,bC end
end
end
return 0
end
if bM<#KEYS then
local bI,aH=s('log-value',E,aE),{}
local cg,dV,es=s('log',bI)
R={
eS=function(b)
if not aH[b]then aH[b]=bI.aH(b)end
return aH[b]
end,
cB=cg,
fv=dV,
gc=es,
aB=function(b,c,aB)
aH[b]=c
bI.aB(c,aB)
end,
dJ=function()
for F,c in pairs(aH)do
if c.dY then bI.dJ(c)end
end
end,
}
for b=bM+1,#KEYS do
local c=R.eS(b)
aq[b]=(c.bp or c.f>0)and c.f
end
end
local n,K=5+d[4],#d
while n<=K do
local Y=d[n]
local D,eC,e,aQ=1,1,0,1
if Y==0 then e,D,eC,aQ=d[n+1],d[n+2],d[n+3],d[n+4]end
for b=D,eC do
local U,a,bC
if Y==0 then
U,a,bC=(aN[d[e]]or dB(d[e]))(bl[b]or aq[b],e,aQ)
if cY[b]and not aq[b]then
U=0
elseif a then
bl[b],j[b]=a,bC
end
else
U=fz(n+1,Y)
end
ck[#ck+1]=U
end
n=n+5
if Y>0 then n=n-4+2*Y end
end
if dT==1 then
local K,fi
for b,a in pairs(bl)do
if E then
E(b,a,j[b])
else
if j[b]~=K then K,fi=j[b],string.format('%d',j[b]/1000+1)end
call('SET',KEYS[b],a,'PXAT',fi)
end
end
if R then R.dJ()end
end
for b=bM+1,#KEYS do aq[b]=aq[b]and pack('>I7',aq[b])end
local aW=bO
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
  sha1: '84f2ff08597b338598b38cbdecdbf0e3908adfe5',
  source: () =>
    [
      `do
local call,KEYS,ARGV=redis.call,KEYS,ARGV
local ac=struct.unpack
local bb=cjson.decode(ARGV[#ARGV])
ARGV[#ARGV]=nil
local cC=(#bb-5)/6
local dI=#KEYS-cC
if bb[1]==1 then
local bZ=call('INFO','server')..call('INFO','replication')
local bg=string.match(bZ,'run_id:(%x+)')..'-'..string.match(bZ,'master_replid:(%x+)')..'-'
local aC=call('GET',KEYS[dI])
if aC and string.sub(aC,1,#bg)~=bg then call('DEL',KEYS[dI])end
if string.sub(bb[2],1,#bg)~=bg then return{0}end
end
local cm={}
for bA=0,cC do cm[bA+1]=KEYS[dI+bA]end
for bA=1,cC do cm[cC+1+bA]=KEYS[bb[6*bA]]end
local av=call('MGET',unpack(cm))
local aC=av[1]
if not aC or string.sub(aC,1,#bb[3])~=bb[3]then return{0}end
local cc={}
for bA=1,cC do
local n=6*bA
local bN,a=av[1+bA],av[cC+1+bA]
local cn=bb[n+1]==(bN and tonumber(string.match(bN,'^%d+'))or 0)
if cn and bb[n+2]>0 then
if a and string.byte(a)and string.byte(a)>=224 then a=string.sub(a,8)end
local G=a and#a or 0
if G==0 then
local r=bb[5]
if r==0 then
local bJ=call('TIME')
r=bJ[1]*1000000+bJ[2]
end
cn=r>=bb[n+5]
else
local B,u,V,x,i,l,o,F
if G==12 then
B,u,V,i,o=ac('>I3I4I3BB',a)
l,o=1,o*1000000
elseif G==28 then
B,u,F,V,i,l,o=ac('>I3I4I3I5I3I5I5',a)
elseif G==49 then
B,u,F,x,F,i,l,o=ac('>I3I4I7I7I7I7I7I7',a)
end
x=x or B and(B-8388608)*4294967296+u+V
cn=B and x>=bb[4]and i==bb[n+2]and l==bb[n+3]and o==bb[n+4]
end
end
if not cn then cc[#cc+1]=bA end
end
if#cc>0 then return cc end
for Q=#KEYS,dI,-1 do KEYS[Q]=nil end
end
`,
    ].join(''),
}

export const holdsProgram: Program = {
  sha1: 'cb633f93fa1309024ce742a76b2d59ffb6d48870',
  source: () =>
    [
      ``,
      clock,
      `local function s(W,...)
if W=='state'then
`,
      state,
      `elseif W=='strings'then
`,
      strings,
      `elseif W=='packed-value'then
`,
      packedValue,
      `elseif W=='sweep'then
`,
      sweep,
      `elseif W=='block-value'then
`,
      blockValue,
      `elseif W=='state-until'then
`,
      stateUntil,
      `elseif W=='bucket-value'then
`,
      bucketValue,
      `elseif W=='bucket-flow'then
`,
      bucketFlow,
      `elseif W=='bucket-leases'then
`,
      bucketLeases,
      `elseif W=='window-value'then
`,
      windowValue,
      `elseif W=='counter-value'then
`,
      counterValue,
      `elseif W=='record-value'then
`,
      recordValue,
      `elseif W=='hold-change'then
`,
      holdChange,
      `elseif W=='drop'then
`,
      drop,
      `elseif W=='bucket-change'then
`,
      bucketChange,
      `elseif W=='bucket-adopt'then
`,
      bucketAdopt,
      `elseif W=='window-change'then
`,
      windowChange,
      `elseif W=='window-adopt'then
`,
      windowAdopt,
      `elseif W=='counter-change'then
`,
      counterChange,
      `elseif W=='counter-adopt'then
`,
      counterAdopt,
      `elseif W=='log-change'then
`,
      logChange,
      `elseif W=='log-value'then
`,
      logValue,
      `elseif W=='log-adopt'then
`,
      logAdopt,
      `elseif W=='log-refund'then
`,
      logRefund,
      `elseif W=='slots'then
`,
      slots,
      `end
end
local bz,E
if not ARGV[2]and#KEYS<=4000 then
bz={}
local aq=call('MGET',unpack(KEYS))
for b=1,#KEYS do bz[KEYS[b]]=aq[b]end
if ce~=0 then
local F
F,E=s'state'
end
end
local function dt(b,a,j)
bz[KEYS[b]]=a
if E then return E(b,a,j)end
call('SET',KEYS[b],a,'PXAT',string.format('%d',j/1000+1))
end
local function dx(e)
`,
      bucketDescriptor,
      `return i,l,o,aG,at
end
local function dK(b,e,t,ab,ae)
local i,l,o,aG,at=dx(e)
local bc,Z=r-aG,(ab-t)*l
if aG>1000000000000000 or Z>o*l or-Z>o*l then return end
local a,h,g=bz[KEYS[b]],bc,at
local B,u
if a then
local V,K,q,af,aa,al
if#a==12 then
B,u,V,af,al=ac('>I3I4I3BB',a)
g,aa,al=0,1,al*1000000
elseif#a==28 then
B,u,g,V,af,aa,al=ac('>I3I4I3I5I3I5I5',a)
elseif#a==49 then
B,u,g,K,q,af,aa,al=ac('>I3I4I7I7I7I7I7I7',a)
if q>0 then return end
else
return
end
if af~=i or aa~=l or al~=o or B<6291456 or B>=10485504 or g>=i then return end
h=(B-8388608)*4294967296+u
if(K or h+V)>r or h>=r then return end
if h<bc or(h==bc and g<=at)then h,g=bc,at end
end
if Z==0 then return true end
if Z<0 then
local U=(r-ae)*i
if U>9000000000000000 or U<-9000000000000000 then return end
local ar=o*l-U
if ar<=0 then return true end
if-Z>ar then return end
end
local ai=g+Z%i
local w=ai%i
h,g=h+(Z-Z%i)/i+(ai-w)/i,w
local V=r-h
local j=h+aG
if g>at then j=j+1 end
if j<=r then
bz[KEYS[b]]=false
call('DEL',KEYS[b])
return true
end
if V<0 then return end
u=h%4294967296
B=8388608+(h-u)/4294967296
if V>=1099511627776 or i>=16777216 or o>=1099511627776 then
dt(b,pack('>I3I4I7I7I7I7I7I7',B,u,g,r,0,i,l,o),j)
return true
end
if l==1 and g==0 and V<16777216 and i<256 and o<256000000 and o%1000000==0 then
dt(b,pack('>I3I4I3BB',B,u,V,i,o/1000000),j)
else
dt(b,pack('>I3I4I3I5I3I5I5',B,u,g,V,i,l,o),j)
end
return true
end
local function aO(Q,bn,D)
local a,e=bz[KEYS[Q]],d[D+1]
if bn>=0 or d[e]~=0 or not a then return end
local bs,n,z,bL,t,ae=string.byte(a),nil,nil,nil,nil,0
local bX,eV=549755813888,'>I5I5'
if bs==8 and#a==27 then
n,z,bL,t,ae=ac('>I7I5I4I5I5',a,2)
elseif bs==10 and#a==33 then
n,z,bL,t,ae=ac('>I7I7I4I7I7',a,2)
bX,eV=4503599627370496,'>I7I7'
end
if ae==0 or bL~=d[D]or r>=n+z then return end
local j,ab=n+z,bn==-1 and d[D+2]or t
if ab>=1099511627776 then return end
if bn==-1 and not dK(Q+1,e,t,ab,n+ae-bX)then return end
a=string.sub(a,2)
if ab==t then
dt(Q,string.char(bs+1)..a,j+60000000)
else
dt(Q,string.char(bs+5)..a..pack(eV,ab,0),j+60000000)
end
return j,t,ab
end
local bU
local aW={}
local Q,ct=1,3
for F=1,d[2]do
local bn,Y=d[ct],d[ct+1]
local f,t,ak
if bz and Y==1 then f,t,ak=aO(Q,bn,ct+4)end
if f then
aW[#aW+1]=pack('>I7I7I7I7I7',2,f,t,ak,0)
else
bU=bU or s('hold-change',dx)
local dL,j,H=bU(Q,bn,ct+4,Y)
aW[#aW+1]=pack('>I7I7',dL,j)
for call=1,Y do
local t,ak,ca=0,0,0
for p=#H,1,-1 do
local L=H[p]
if L[1]==d[ct+3*call+1]then t,ak,ca=L[2],L[3],L[4]end
end
aW[#aW+1]=pack('>I7I7I7',t,ak,ca)
end
for b=Q,Q+Y do
local w=bz and redis.pcall('GET',KEYS[b])
if bz then bz[KEYS[b]]=type(w)=='string'and w end
end
end
Q,ct=Q+1+Y,ct+4+3*Y
end
return table.concat(aW)
`,
    ].join(''),
}

export const leaseProgram: Program = {
  sha1: '69a9efe06253c91d666da7945330471f075b96ec',
  source: () =>
    [
      ``,
      clock,
      `local function s(W,...)
if W=='strings'then
`,
      strings,
      `elseif W=='drop'then
`,
      drop,
      `elseif W=='block-value'then
`,
      blockValue,
      `elseif W=='bucket'then
`,
      bucket,
      `elseif W=='bucket-value'then
`,
      bucketValue,
      `elseif W=='bucket-flow'then
`,
      bucketFlow,
      `elseif W=='bucket-leases'then
`,
      bucketLeases,
      `elseif W=='bucket-adopt'then
`,
      bucketAdopt,
      `end
end
local T,E,F,remove,ao=s'strings'
local ag=s('drop',E,remove,ao)
local bj=s'bucket'
local X,ap,aF,aI=bj.X,bj.ap,bj.aF,bj.aI
local dO=64
local function ge(v,aA)
local bS=#v+1
for p,di in ipairs(v)do
if di[4]>aA[4]then
bS=p
break
end
end
table.insert(v,bS,aA)
return v
end
local function fy(b,a,n)
local i,l,o=d[n],d[n+1],d[n+2]
local eK,aw,bY,ff,fF=d[n+3],d[n+4],d[n+5],d[n+6],d[n+7]
local k,f=r,0
local h,g,x,q,v,cW
if a then
local af,aa,al
h,g,x,q,af,aa,al,f,v=bj.T(a,0)
if h and(af~=i or aa~=l or al~=o)then
h,g,x,q,v=bj.cB(h,g,x,q,af,aa,al,i,l,o,v)
cW=true
end
if h and x>r then k=x end
end
if f>r then aw=0 end
local cI,aX={},nil
local cc=false
if v then
local fZ,fY,bF=bj.aO(h,g,i,l,o,v,k)
for F,aA in ipairs(bF or{})do
if aA[1]==bY then aX=aA else cI[#cI+1]=aA end
end
cc=aX and ff<=aX[2]
if not cc then h,g,v,cW=fZ,fY,bF,true end
end
local cl=0
if not cc then
local aK,fd,er=0,0,k+fF
if aX then
aK=math.min(d[n+8],aX[3])
fd=math.min(d[n+9],aX[3]-aK)
er=math.max(er,aX[4])
local by,w=X(i,l,fd,0)
g=g-w
if g<0 then by,g=by+1,g+i end
local bd=aI(cI)+aK
h,g=ap(h-by,g,i,l,o-bd,k)
if x<k then x=k end
v=cI
end
local dC=0
if aw>=eK and(aX or#cI<dO)then
dC=o
if h then
local fx,ea=ap(h,g,i,l,o,k)
dC=aF(fx,ea,i,l,k)
end
end
if dC>=eK then cl=math.min(aw,dC)end
if cl>0 then
local u,cp=ap(-math.huge,0,i,l,o,k)
if not h then
h,g,q=u,cp,0
elseif h<u or(h==u and g<=cp)then
h,g=u,cp
if q>0 and k>=x+q then q=0 end
end
local z,w=X(i,l,cl,g)
h,g,x=h+z,w,k
end
if aK+cl>0 then v=ge(cI,{bY,ff,aK+cl,er})end
cW=cW or cl>0
end
if cW then
if v and#v==0 then v=nil end
if not h then
ag(b,f)
else
local j=bj.j(h,g,x,q,i,l,o,v or{})
if f>j then j=f end
E(b,bj.a(h,g,x,q,i,l,o,f,v),j)
end
end
return cl
end
local aq,aW,ck={},{},{}
for p=1,#KEYS do
aq[p]=T(p)
aW[p]=fy(p,aq[p],3+(p-1)*d[2])
end
`,
      reply,
    ].join(''),
}

export const needsProgram: Program = {
  sha1: 'fd584b4a68c5fe1d36de6da1ef7e1a264656c48a',
  source: () =>
    [
      ``,
      clock,
      `local dZ=call('HGETALL',KEYS[1])
local av,cn={},false
for p=1,#dZ,2 do
local eX,aS=dZ[p],dZ[p+1]
local n=tonumber(string.match(aS,'^%d+'))
if eX==d[2]then
cn=true
elseif r-n>d[3]or n-r>d[3]then
call('HDEL',KEYS[1],eX)
else
av[#av+1]=string.sub(aS,18)
end
end
if d[5]==''then
call('HDEL',KEYS[1],d[2])
elseif cn or#av<d[4]then
call('HSET',KEYS[1],d[2],string.format('%016.0f ',r)..d[5])
call('PEXPIRE',KEYS[1],math.ceil(d[3]/1000))
end
return av
`,
    ].join(''),
}

export const regionProgram: Program = {
  sha1: '084240268ae6f7b3803e018f5bf06c35878e85fd',
  source: () =>
    [
      ``,
      clock,
      `local function s(W,...)
if W=='strings'then
`,
      strings,
      `elseif W=='drop'then
`,
      drop,
      `elseif W=='block-value'then
`,
      blockValue,
      `end
end
local T,E,F,remove,ao=s'strings'
local bZ=call('INFO','server')..call('INFO','replication')
local bg=string.match(bZ,'run_id:(%x+)')..'-'..string.match(bZ,'master_replid:(%x+)')..'-'
local aC=call('GET',KEYS[1])
local dd=#KEYS>3
local a=dd and T(4)
local bN=dd and call('GET',KEYS[5])
local dW=a and redis.sha1hex(a)or''
local dQ=aC and string.match(aC,'^%S+ %d+ ')or''
local bU=bN and tonumber(string.match(bN,'^%d+'))or 0
local bE=string.match(dQ,'^%S+')or''
if string.sub(bE,1,#bg)~=bg then
local k=call('TIME')
local fM=d[3]==dQ and string.sub(d[2],1,#bg)==bg
bE=fM and d[2]or bg..string.format('%x%05x',k[1],k[2])
end
local dm=d[2]==bE and d[3]==dQ
if dm and dd then dm=(d[5]==dW or d[7]=='-')and d[6]==bU end
if not dm then return{bE,r,aC,a,dW,bN}end
local aK=not dd or d[10]=='-'or d[10]==''
if not aK and bU==0 and call('ZCARD',KEYS[3])>=d[11]then return 0 end
local au=call('INCR',KEYS[2])
if d[4]~=''then call('SET',KEYS[1],bE..' '..au..' '..d[4])end
if not dd then return au end
if d[7]~='-'then
local ag=s('drop',E,remove,ao)
local F,F,bi=s'block-value'
local ey=string.gsub(d[7],'..',function(dX)
return string.char(tonumber(dX,16))
end)
local f,j=d[8],d[9]
if ey==''then ag(4,f)else E(4,bi(ey,f),math.max(f,j))end
end
if d[10]==''then
call('DEL',KEYS[5])
call('ZREM',KEYS[3],KEYS[5])
elseif d[10]~='-'then
bN=au..' '..d[10]
call('SET',KEYS[5],bN)
call('ZADD',KEYS[3],au,KEYS[5])
end
if d[7]=='-'then return{bE,r,aC,a,dW,bN}end
return au
`,
    ].join(''),
}

export const releaseProgram: Program = {
  sha1: '1caa20ba0d0be9d4de09801125daed17953d67a2',
  source: () =>
    [
      ``,
      clock,
      `local function s(W,...)
if W=='state'then
`,
      state,
      `elseif W=='strings'then
`,
      strings,
      `elseif W=='packed-value'then
`,
      packedValue,
      `elseif W=='sweep'then
`,
      sweep,
      `elseif W=='block-value'then
`,
      blockValue,
      `elseif W=='state-until'then
`,
      stateUntil,
      `elseif W=='bucket-value'then
`,
      bucketValue,
      `elseif W=='bucket-flow'then
`,
      bucketFlow,
      `elseif W=='bucket-leases'then
`,
      bucketLeases,
      `elseif W=='window-value'then
`,
      windowValue,
      `elseif W=='counter-value'then
`,
      counterValue,
      `elseif W=='record-value'then
`,
      recordValue,
      `elseif W=='drop'then
`,
      drop,
      `elseif W=='slots'then
`,
      slots,
      `end
end
local T,E,F,remove,ao=s'state'
local ag=s('drop',E,remove,ao)
local am=s'block-value'
local F,cy=s'slots'
local bw={}
for b=1,#KEYS do
local a=T(b)
if a and am(a)==9000000000000000 then
bw[#bw+1]=b
else
local w,j=cy(a,d[2*b],d[2*b+1])
if w then E(b,w,j)elseif w==false then ag(b,j)end
end
end
return bw
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

export const swapProgram: Program = {
  sha1: '8d3e975131a4d63145b18c839b3158fbd8c109f5',
  source: () =>
    [
      ``,
      clock,
      `local function s(W,...)
if W=='state'then
`,
      state,
      `elseif W=='strings'then
`,
      strings,
      `elseif W=='packed-value'then
`,
      packedValue,
      `elseif W=='sweep'then
`,
      sweep,
      `elseif W=='block-value'then
`,
      blockValue,
      `elseif W=='state-until'then
`,
      stateUntil,
      `elseif W=='bucket-value'then
`,
      bucketValue,
      `elseif W=='bucket-flow'then
`,
      bucketFlow,
      `elseif W=='bucket-leases'then
`,
      bucketLeases,
      `elseif W=='window-value'then
`,
      windowValue,
      `elseif W=='counter-value'then
`,
      counterValue,
      `elseif W=='record-value'then
`,
      recordValue,
      `end
end
local T,E=s'state'
local aJ=#KEYS
local av={}
for b=1,aJ do
local a=T(b)
av[b],av[aJ+b]=a,a and redis.sha1hex(a)or''
end
if#d==1 then
av[2*aJ+1]=r
return av
end
for b=1,aJ do
if av[aJ+b]~=d[4*b-2]then return 0 end
end
local F,bh,bi=s'block-value'
local eP,fK=r+1000000,1+r%1000000000
for b=1,aJ do
local a=string.gsub(d[4*b-1],'..',function(dX)
return string.char(tonumber(dX,16))
end)
local f,j=d[4*b],d[4*b+1]
if a==''then
E(b,bh(f>r and f or fK),math.max(f,eP))
else
if string.byte(a)~=2 then a=bi(a,f)end
E(b,a,math.max(f,j,eP))
end
end
return 1
`,
    ].join(''),
}
