// Made from the programs beside this file by `npm run generate`; edit those, not this.

/** A program: its digest, and its text, which is put together only for a server that does not know it. */
export interface Program {
  readonly sha1: string
  readonly source: () => string
}

const clock = `local call,KEYS=redis.call,KEYS
local pack,ag=struct.pack,struct.unpack
local d=cjson.decode(ARGV[1])
local bZ=d[1]
local bG=bZ==0 and call('TIME')
local q=bG and bG[1]*1000000+bG[2]or bZ
`

const state = `local fa,eY,aE,fb,am,cB=s'strings'
local dD=ARGV[2]and ARGV[2]~=''and cjson.decode(ARGV[2])
if not dD then
return fa,eY,aE,fb,am
end
local cA,dU=s'packed-value'
local function cl(b)
if dD[2*b]<0 then return nil end
return pack('>I4I4',dD[2*b-1],dD[2*b])
end
local function S(b)
local aL=cl(b)
if not aL then return fa(b)end
local av=redis.pcall('HMGET',KEYS[b],aL,'')
if av.err then return false end
return av[1]and cA(av[1],av[2]or'')
end
local function fM(O,aL,a,j)
local Q=redis.pcall('HGET',O,'')
if type(Q)=='table'then call('DEL',O)end
if type(Q)~='string'or#Q<6 or(#Q-6)%13>0 then Q=false end
local ce,be=dU(a,Q and string.sub(Q,7)or'')
local U=Q and ag('>I6',Q)or 0
local ba
if bZ==0 and U*1000>=j then
if#Q==6+#be then
ba=call('HSET',O,aL,ce)
else
ba=call('HSET',O,aL,ce,'',string.sub(Q,1,6)..be)
end
else
local ee=j+math.max(0,j-q)/4
ba=call('HSET',O,aL,ce,'',pack('>I6',math.max(U,math.floor(ee/1000)))..be)
if bZ~=0 and Q then
call('PEXPIREAT',O,cB(ee),'GT')
else
call('PEXPIREAT',O,cB(ee))
end
end
if ba>0 and bZ==0 and q%16==0 then
s('sweep',cA,am)(O)
end
end
local function E(b,a,j)
local aL=cl(b)
if aL then return fM(KEYS[b],aL,a,j+am)end
eY(b,a,j)
end
local function remove(b)
local aL=cl(b)
if not aL then
fb(b)
elseif type(redis.pcall('HGET',KEYS[b],aL))~='table'then
call('HDEL',KEYS[b],aL)
end
end
return S,E,aE,remove,am,cl
`

const strings = `local am=(ARGV[3]or 0)+0
local function S(b)
local a=redis.pcall('GET',KEYS[b])
return type(a)=='string'and a
end
local function cB(j)
if bZ==0 then return math.floor(j/1000)+1 end
local k=call('TIME')
return k[1]*1000+math.ceil(math.max(0,j-q)/1000)+60000
end
local function E(b,a,j)
call('SET',KEYS[b],a,'PXAT',cB(j+am))
end
local function aE(b,j)
call('PEXPIREAT',KEYS[b],cB(j+am))
end
local function remove(b)
call('DEL',KEYS[b])
end
return S,E,aE,remove,am,cB
`

const packedValue = `local function cA(a,Q)
local G=#a
if G~=13 and G~=14 then return a end
local D,w,V,p=ag('>I3I4I5B',a)
if D<6291456 or D>=10485760 or#Q<6+13*p or p<1 then return a end
local i,l,o=ag('>I3I5I5',Q,13*p-6)
local h=0
if G==14 then h=string.byte(a,14)end
return pack('>I3I4I3I5I3I5I5',D,w,h,V,i,l,o)
end
local function dU(a,be)
if#a~=28 then return a,be end
local D,w,h,V=ag('>I3I4I3I5',a)
if D<6291456 or D>=10485760 or h>255 then return a,be end
local cG,p=string.sub(a,16),0
for n=1,#be,13 do
if string.sub(be,n,n+12)==cG then p=(n+12)/13 end
end
if p==0 then
if#be>51 then return a,be end
be=be..cG
p=#be/13
end
local ce=pack('>I3I4I5B',D,w,V,p)
if h>0 then ce=ce..string.char(h)end
return ce,be
end
return cA,dU
`

const sweep = `local cA,am=...
local ak=s'block-value'
local eo=s'state-until'
return function(O)
local bF=call('HRANDFIELD',O,128,'WITHVALUES')
local Q=call('HGET',O,'')
for p=1,#bF,2 do
local a=cA(bF[p+1],Q)
local f=ak(a)
if bF[p]~=''and(eo(a)or 0)+am<=q and f+am<=q then call('HDEL',O,bF[p])end
end
end
`

const blockValue = `local function ak(a)
local f,J=0,a
if#a>=7 then
local D,w=ag('>I3I4',a)
if D>=14680064 then f,J=(D-14680064)*4294967296+w,string.sub(a,8)end
end
if string.byte(J)==1 then return 9000000000000000,''end
return f,J
end
local function bh(f)
local w=f%4294967296
return pack('>I3I4',14680064+(f-w)/4294967296,w)
end
local function bi(a,f)
if f+60000000<=q then return a end
return bh(f)..a
end
return ak,bh,bi
`

const stateUntil = `local ak=s'block-value'
local bW=s'bucket-value'
local X,ao=s'bucket-flow'
local F,F,cj=s('bucket-leases',X,ao)
local ct,F,br=s'window-value'
local cr=s'counter-value'
local cs=s'record-value'
return function(a)
local g,h,x,r,i,l,o,F,u=bW(a,0)
if g then return cj(g,h,x,r,i,l,o,u or{})end
local m,F,B,I=ct(a)
if m then return br(m,B,I)end
local bk,M,F,y=cr(a)
if bk and M>0 then return bk+y end
local F,eG=cs(a)
if eG then return eG+60000000 end
local F,J=ak(a)
if string.byte(J)==3 then return(ag('>I7',J,2))end
return bk
end
`

const bucketValue = `local ak,F,bi=s'block-value'
local function fD(h,x,r,i,l,o)
if h>=i or x>9007199254740991 or r>3200000000000000 then return false end
if l<1 or o<1 or l>9007199254 then return false end
return i*(o/1000000+2)<=9007199254740992 and o/i*l<=3200000000000000
end
local function bW(a,f)
local G=#a
local D,w,h,V,x,r,i,l,o
if G==12 then
D,w,V,i,o=ag('>I3I4I3BB',a)
h,r,l,o=0,0,1,o*1000000
elseif G==28 then
D,w,h,V,i,l,o=ag('>I3I4I3I5I3I5I5',a)
r=0
elseif G>=49 and(G-49)%28==0 then
D,w,h,x,r,i,l,o=ag('>I3I4I7I7I7I7I7I7',a)
end
if D and D>=6291456 and D<10485760 then
local g,u=(D-8388608)*4294967296+w,nil
x=x or g+V
if not fD(h,x,r,i,l,o)then return nil,nil,nil,nil,nil,nil,nil,0 end
for n=50,G,28 do
u=u or{}
u[#u+1]={ag('>I7I7I7I7',a,n)}
end
return g,h,x,r,i,l,o,f,u
end
local eq,J=ak(a)
if eq==0 or f>0 then return nil,nil,nil,nil,nil,nil,nil,0 end
if J==''then return nil,nil,nil,nil,nil,nil,nil,eq end
return bW(J,eq)
end
local function cR(g,h,x,r,i,l,o,f,u)
local w,V=g%4294967296,x-g
local D=8388608+(g-w)/4294967296
local a
if r>0 or u or V<0 or V>=1099511627776 or i>=16777216 or o>=1099511627776 then
a=pack('>I3I4I7I7I7I7I7I7',D,w,h,x,r,i,l,o)
for F,aA in ipairs(u or{})do a=a..pack('>I7I7I7I7',aA[1],aA[2],aA[3],aA[4])end
elseif l==1 and h==0 and V<16777216 and i<256 and o<256000000 and o%1000000==0 then
a=pack('>I3I4I3BB',D,w,V,i,o/1000000)
else
a=pack('>I3I4I3I5I3I5I5',D,w,h,V,i,l,o)
end
if f>0 then return bi(a,f)end
return a
end
return bW,cR
`

const bucketFlow = `local function X(i,l,bu,A)
local ca=l*1000000
local dp,eN=ca%i,l%i
local H=bu%1000000
local bq=(bu-H)/1000000
local ah=A+bq*dp+H*eN
local v=ah%i
return bq*((ca-dp)/i)+H*((l-eN)/i)+(ah-v)/i,v
end
local function eV(i,l,fi,A,z)
local N=0
if z<=0 then return N end
local eb=(z-A/i)/(l*fi/i)*(1-2^-50)
if eb>0 then N=eb-eb%1 end
while true do
local aV,v=X(i,l,(N+1)*fi,A)
if aV>z or(aV==z and v>0)then return N end
N=N+1
end
end
local function ao(g,h,i,l,bu,k)
if bu<0 then bu=0 end
local z,v=X(i,l,bu,0)
local w,ck=k-z,0
if v>0 then w,ck=w-1,i-v end
if g>w or(g==w and h>=ck)then return g,h end
return w,ck
end
local function aF(g,h,i,l,k)
local bq=eV(i,l,1000000,h,k-g)
local aV,v=X(i,l,bq*1000000,h)
g,h=g+aV,v
local H=eV(i,l,1,h,k-g)
return bq*1000000+H,g,h,H
end
local function bo(i,l,bq)
local ca=l*1000000
local h=ca%i
local db=h%131072
local bB=bq*((h-db)/131072)
local C=bB%i
local cS=C*131072+bq*db
local v=cS%i
return bq*((ca-h)/i)+(bB-C)/i*131072+(cS-v)/i,v
end
local function bz(i,l,o,k)
return math.min(k+3155760000000000,9007199254740990-(X(i,l,o,0)))
end
return X,ao,aF,bo,bz
`

const bucketLeases = `local X,ao=...
local function aI(u)
local bd=0
for F,aA in ipairs(u)do bd=bd+aA[3]end
return bd
end
local function aO(g,h,i,l,o,u,k)
local bd,v=aI(u),{}
for F,aA in ipairs(u)do
if aA[4]<=k and#v==0 then
g,h=ao(g,h,i,l,o-bd,aA[4])
bd=bd-aA[3]
else
v[#v+1]=aA
end
end
if#v==0 then return g,h,nil end
g,h=ao(g,h,i,l,o-bd,k)
return g,h,v
end
local function cj(g,h,x,r,i,l,o,u)
local bd=aI(u)
for F,aA in ipairs(u)do
g,h=ao(g,h,i,l,o-bd,aA[4])
bd=bd-aA[3]
end
local aV,v=X(i,l,o,h)
local j=g+aV
if v>0 then j=j+1 end
if r>0 and x+r>j then j=x+r end
return j
end
return aI,aO,cj
`

const windowValue = `local ak,F,bi=s'block-value'
local function ct(a)
local f,J=0,a
if#a~=21 then f,J=ak(a)end
if#J==21 then
local D,w,N,I,y=ag('>I3I4I7BI6',J)
y=I%16*281474976710656+y
if D>=10485760 and D<12582912 and y>0 then
return(D-10485760)*4294967296+w,N,y,math.floor(I/16),f
end
end
if J==a then f,J=ak(a)end
return nil,nil,nil,nil,J==''and f or 0
end
local function dr(m,N,y,I,f)
local w,cv=m%4294967296,y%281474976710656
local ep=I*16+(y-cv)/281474976710656
local a=pack('>I3I4I7BI6',10485760+(m-w)/4294967296,w,N,ep,cv)
if f>0 then return bi(a,f)end
return a
end
local function br(m,y,I)
if I>2 then return m+y end
return m+math.ceil(y/(I==2 and 4 or I==1 and 16 or 64))
end
return ct,dr,br
`

const counterValue = `local ak,F,bi=s'block-value'
local function cr(a)
local f,J=0,a
if#a~=28 then f,J=ak(a)end
if#J==28 then
local D,w,M,R,ay,y=ag('>I3I4I7I7BI6',J)
y=ay%16*281474976710656+y
if D>=12582912 and D<14680064 and y>0 then
return(D-12582912)*4294967296+w,M,R,y,math.floor(ay/16),f
end
end
if J==a then f,J=ak(a)end
return nil,nil,nil,nil,nil,J==''and f or 0
end
local function cX(m,M,R,y,ay,f)
local w,cv=m%4294967296,y%281474976710656
local ep=ay*16+(y-cv)/281474976710656
local a=pack('>I3I4I7I7BI6',12582912+(m-w)/4294967296,w,M,R,ep,cv)
if f>0 then return bi(a,f)end
return a
end
return cr,cX
`

const recordValue = `local eu,ds,ev=1099511627776,549755813888,4503599627370496
local function cs(a)
local cC,G=a and string.byte(a),a and#a
if not cC or cC<8 or cC>15 or G<13 then return nil end
local bD=cC%2
local aU,Z=cC%4>1,cC>11
local au=aU and'I7'or'I5'
local n,z,A=ag('>I7'..au,a,2)
local da='>I4'..au..au
if Z then da=da..au..au end
local fg=4+(Z and 4 or 2)*(aU and 7 or 5)
if(G-A+1)%fg>0 then return nil end
local H={}
for C=A,G,fg do
local co,t,an,aj,bV=ag(da,a,C)
if not Z then aj,bV=t,0 end
if an>0 then an=n+an-(aU and ev or ds)end
H[#H+1]={co,t,aj,bV,an}
end
return n,n+z,bD,H
end
local function dj(n,j,bD,H)
local aU,Z=j-n>=eu,false
for F,K in ipairs(H)do
local t,aj,bV,an=K[2],K[3],K[4],K[5]
if aj~=t or bV>0 then Z=true end
if math.max(t,aj,bV)>=eu or an~=0 and(an<=n-ds or an>=n+ds)then aU=true end
end
local au=aU and'I7'or'I5'
local da='>I4'..au..au
local a=pack('>BI7'..au,8+bD+(aU and 2 or 0)+(Z and 4 or 0),n,j-n)
for F,K in ipairs(H)do
local an=K[5]
if an~=0 then an=an-n+(aU and ev or ds)end
a=a..pack(da,K[1],K[2],an)
if Z then a=a..pack('>'..au..au,K[3],K[4])end
end
return a
end
return cs,dj
`

const drop = `local E,remove,am=...
local F,bh=s'block-value'
return function(b,f)
if f>q then return E(b,bh(f),f)end
if am>0 then return E(b,bh(1),q)end
remove(b)
end
`

const bucketChange = `local S,E,ad=...
local bW,cR=s'bucket-value'
local X,ao,aF,bo,bz=s'bucket-flow'
local aI,aO,cj=s('bucket-leases',X,ao)
local function cc(b,i,l,o,aG,at,fZ,en)
local k,f=q,0
local a=S(b)
local g,h,x,r,u,az
if a then
local af,ac,ap
g,h,x,r,af,ac,ap,f,u=bW(a,0)
if f==9000000000000000 then return true end
if g and(af~=i or ac~=l or ap~=o)then
local dP=s('bucket-adopt',X,ao,aF,bo,bz,aI,aO)
g,h,x,r,u=dP(g,h,x,r,af,ac,ap,i,l,o,u)
az=true
end
if g and x>q then k=x end
end
if u then
az=az or fZ
g,h,u=aO(g,h,i,l,o,u,k)
end
local A,dy,aK,w=g,h,r,k-aG
if not g then
A,dy,aK=w,at,0
elseif g<w or(g==w and h<=at)then
A,dy=w,at
if r>0 and k>=x+r then aK=0 end
end
local aP,z,cL=en(A,dy,k,u)
if not aP then
if not az then return end
if not g then return ad(b,f)end
else
g,h,r=A,dy,aK
local aw,cn=k+aG,0
if at>0 then aw,cn=aw-1,i-at end
local bs=bz(i,l,o,k)
if aw>bs or(aw==bs and cn>0)then aw,cn=bs,0 end
if g>aw or(g==aw and h>cn)then aw,cn=g,h end
local ah=h-aP*cL
local v=ah%i
g,h,x=g-aP*z+(ah-v)/i,v,k
if aP<0 and(g>aw or(g==aw and h>cn))then g,h=aw,cn end
if u then g,h=ao(g,h,i,l,o-aI(u),k)end
end
local j=g+aG
if h>at then j=j+1 end
if r>0 and x+r>j then j=x+r end
if u then
j=cj(g,h,x,r,i,l,o,u)
elseif j<=k then
return ad(b,f)
end
if f>j then j=f end
E(b,cR(g,h,x,r,i,l,o,f,u),j)
end
return cc,X,aF,bo
`

const bucketAdopt = `local X,ao,aF,bo,bz,aI,aO=...
local function dP(g,h,x,r,af,ac,ap,i,l,o,u)
local k=q
if x>q then k=x end
if u then
g,h,u=aO(g,h,af,ac,ap,u,k)
end
local eF,ea=X(af,ac,ap,0)
local bl,fv=X(af,ac,ap,h)
local f=g+bl
if fv>0 then f=f+1 end
if r>0 and x+r>f then f=x+r end
if f<=k then return nil end
local dC=eF
if ea>0 then dC=eF+1 end
g,h=ao(g,h,af,ac,ap,k)
local cY=0
if g>k or(g==k and h>0)then
local ca=ac*1000000
local dp=ca%af
cY=math.min(9007199256,math.floor((g-k+1)/((ca-dp)/af+dp/af))+1)
local E,fN=bo(af,ac,cY)
g,h=g-E,h-fN
if h<0 then g,h=g-1,h+af end
end
local bu,H
bu,g,h,H=aF(g,h,af,ac,k)
local K=(k-g)*af-h-H*ac
local am=0
if cY==0 and bu>=o then
bu=o
elseif K>0 then
local db=l%131072
local bB=K*((l-db)/131072)
local cS=(bB%ac)*131072+K*db
am=(bB-bB%ac)/ac*131072+(cS-cS%ac)/ac
end
local z,cL=X(i,l,bu,0)
local dR=cL+am
if r>dC then dC=r end
g,h=k-z-(dR+(-dR)%i)/i,(-dR)%i
if cY>0 then
local fH,fI=bo(i,l,cY)
g,h=g+fH,h+fI
if h>=i then g,h=g+1,h-i end
end
local bs=bz(i,l,o,k)
if g>bs or(g==bs and h>0)then g,h=bs,0 end
if u then
g,h=ao(g,h,i,l,o-aI(u),k)
end
return g,h,k,dC,u
end
return dP
`

const windowChange = `local S,E,ad=...
local ct,dr,br=s'window-value'
local cO,cQ,di,dq=s('window-adopt',br)
return function(b,e,fp)
local ae=d[e+2]
local f=0
local a=S(b)
local m,N,z,I,az
if a then
local bp
m,N,z,I,f=ct(a)
if f==9000000000000000 then return true end
bp=m
if m then m,N,z,I,az=cO(m,N,z,I,e)end
if bp and not m then ad(b,f)end
end
local U,aU,cw,ax=m,z,I,N
if not(m and q<m)then
U,aU,cw=cQ(m,z,I,e)
ax=0
end
local al,aD,L
al,aD,L,aU,cw=di(U,ax,aU,cw,e)
local ai=fp(L,al)
if ai~=0 then
ax,az=aD+L-ai,true
if ai>0 and ax==0 and cw<4 then return ad(b,f)end
m,N,z,I=U,ax,aU,dq(cw,ax,ae)
end
if not az then return end
E(b,dr(m,N,z,I,f),math.max(br(m,z,I),f))
end
`

const windowAdopt = `local br=...
local function eE(e,k)
local B=d[e+3]
if d[e+4]==1 then return k+B end
local ff=k-d[e+8]
return ff-ff%B+B+d[e+8]
end
local function cO(m,N,y,I,e)
local B=d[e+3]
if y==B and I<5 then return m,N,y,I,false end
if q>=m then
if q>=br(m,y,I)then return nil end
return m,N,y,I,false
end
if I==6 then
if B<=y then return m,N,y,I,false end
return m,9007199254740991,B,4,true
end
if y==B then return m,N,y,4,true end
if B<y and I>=4 then return m,N,y,I,false end
local U=eE(e,q)
if B>y and d[e+4]==1 then
U=m-y+B
elseif m>U then
U=m
end
return U,N,math.max(y,B),4,true
end
local function cQ(m,y,I,e)
local B,aX=d[e+3],eE(e,q)
if not m or q>=br(m,y,I)then return aX,B,0 end
if B>y then return math.max(aX,m+y),B,4 end
if B<y and I<5 then return m+y,y,5 end
if d[e+4]~=1 and aX-B<m then aX=aX+B end
return aX,B,0
end
local function di(m,N,y,I,e)
local ae,B,K=d[e+2],d[e+3],0
if I>=5 and B<y then
K=math.max(0,math.min(math.floor((q-m+y)/B),math.floor(y/B)-1))
end
local al,aD=m-y+K*B,K*ae
local L=math.max(0,N-aD)
if I==6 or I==5 and aD>9007199254740991-2*ae then return al,0,L,m-al,6 end
return al,aD,L,y,I
end
local function dq(I,N,ae)
if I>=4 then return I end
if N*4>ae then return 3 end
return N*16>ae and 2 or N*64>ae and 1 or 0
end
return cO,cQ,di,dq
`

const counterChange = `local S,E,ad=...
local cr,cX=s'counter-value'
local cN,cK,dm=s'counter-adopt'
return function(b,e,fq)
local B=d[e+3]
local f=0
local a=S(b)
local m,M,R,z,ay,az
if a then
local bp
m,M,R,z,ay,f=cr(a)
if f==9000000000000000 then return true end
bp=m
if m then
m,M,R,z,ay,az=cN(m,M,R,z,ay,e)
end
if bp and not m then ad(b,f)end
end
local aK=m and q<m
local bk,eQ,ef=cK(m,M,R,B)
if not aK then z,ay=B,0 end
local cE,dg=fq(bk,eQ,ef,z,dm(bk,ef,z,e))
if cE~=0 or dg~=0 then
m,M,R,az=bk,eQ-cE,ef-dg,true
if M+R==0 then return ad(b,f)end
end
if not az then return end
local j=m
if M>0 then j=m+z end
E(b,cX(m,M,R,z,ay,f),math.max(j,f))
end
`

const counterAdopt = `local function cK(m,M,R,B)
if m and q<m then return m,M,R end
if not m or q>=m+B then return q-q%B+B,0,0 end
return m+B,0,M
end
local function cN(m,M,R,y,ay,e)
local B=d[e+3]
if y==B then
if ay==0 or q>=m then return m,M,R,y,ay,false end
return m,M,R,y,0,true
end
if y>B and q<m then return m,M,R,y,ay,false end
m,M,R=cK(m,M,R,y)
if y>B and ay==0 then
if R==0 then return nil end
return m,M,R,y,1,true
end
m=m-y+B
if q>=m or M+R==0 then return nil end
return m,M,R,B,0,true
end
local function dm(m,R,y,e)
if R==0 then return 0 end
local cH=d[e+4]
if y~=d[e+3]then
cH=1
while y/cH>1000000 do cH=cH*10 end
end
local dG=math.floor(y/cH)
local v=math.min(dG,math.ceil((m-q)/cH))
local bq=math.floor(R/1000000)
local eX=bq*v
local bL=math.floor(eX/dG)
local h=(eX-bL*dG)*1000000+(R-bq*1000000)*v
return bL*1000000+math.ceil(h/dG)
end
return cN,cK,dm
`

const logChange = `local E,aE,ad=...
local P=s('log-value',E,aE)
local cb,cM,cV=s('log-adopt',P)
local dk,ej=s('log-refund',P,ad,E)
local function cT(b,e,bR)
local aY=P.aH(b)
if aY.f==9000000000000000 then return true end
local c=cb(aY,e)
if aY.bp and not c.bp then ad(b,c.f)end
local k,C,L=cM(c,e)
if not bR(c,k,C,L)and c.dY then P.dI(c)end
end
local function cd(c,e,C,k,ab)
P.aB(c,cV(c,e,C,k,ab))
end
return cT,cd,dk,ej,P
`

const logValue = `local E,aE=...
local ak=s'block-value'
local aZ,aR,bN,bO=47,14,64,4503599627370496
local function eO(b,f)
return{b=b,G=0,as=0,aD=0,n=0,ah=0,y=0,r=0,f=f,aY=0,du=true}
end
local function fG(b)
local O,c=KEYS[b],eO(b,0)
local a=redis.pcall('GETRANGE',O,0,aZ+bN*aR-1)
if type(a)~='string'then return c end
local B=#a
if B==aZ+bN*aR then B=call('STRLEN',O)end
if B<aZ or string.byte(a)~=2 or(B-aZ)%aR>0 then
local f,J=ak(a)
if J==''then c.f=f end
return c
end
local F,f,y,r,aD,n,ah,as=ag('>BI7I7I7I7I7I7I4',a)
local aY=(B-aZ)/aR
if as>aY or y<1 then return c end
c.bp,c.du,c.aY,c.G=true,false,aY,aY+1
c.f,c.y,c.r,c.aD,c.n,c.ah,c.as=f,y,r,aD,n,ah,as
c.eh={[0]=string.sub(a,aZ+1)}
return c
end
local function aS(c,p)
if p==c.G-1 then return c.n,c.ah end
if p==c.aY then return c.eT,c.eU end
local eR=p%bN
local au=(p-eR)/bN
local dE=c.eh[au]
if not dE then
local A=aZ+au*bN*aR
dE=call('GETRANGE',KEYS[c.b],A,A+bN*aR-1)
c.eh[au]=dE
end
local n,ah=ag('>I7I7',dE,eR*aR+1)
return n,ah
end
local function aM(c,p)
if p<c.as then return 0 end
local F,ah=aS(c,p)
return(ah-c.aD)%bO
end
local function bS(c,fB,A)
local w,D=A,c.G
while w<D do
local cm=math.floor((w+D)/2)
if aS(c,cm)>fB then D=cm else w=cm+1 end
end
return w
end
local function cZ(c,ah,A)
local w,D=A,c.G
while w<D do
local cm=math.floor((w+D)/2)
if aM(c,cm)>=ah then D=cm else w=cm+1 end
end
return w
end
local function cd(c,aB)
local A=aB.A
c.dY,c.bp,c.y,c.r=true,true,aB.y,aB.r
if A==c.G then
c.du,c.aY,c.G,c.as,c.aD,c.n,c.ah=true,0,1,0,0,aB.k,aB.ab
return
end
if A>c.as then
local F,aD=aS(c,A-1)
c.aD,c.as=aD,A
end
if not aB.cD then
c.eT,c.eU,c.G=c.n,c.ah,c.G+1
end
c.n,c.ah=aB.k,(c.ah+aB.ab)%bO
end
local function eM(c,as)
return pack('>BI7I7I7I7I7I7I4',2,c.f,c.y,c.r,c.aD,c.n,c.ah,as)
end
local function eL(c)
local j=c.n+c.y
if c.r>c.y then j=c.n+c.r end
if c.f>j then j=c.f end
return j
end
local function fR(c)
local j=eL(c)
local Z=c.G-1>c.aY
local ba=''
if Z and c.as<=c.aY then ba=pack('>I7I7',c.eT,c.eU)end
local as=c.as
local bL=c.du or c.aY<=bN or as>c.G-as
if bL then as=0 end
local Q=eM(c,as)
if bL then
local bQ=''
if not c.du then
if c.aY<=bN then
bQ=string.sub(c.eh[0],c.as*aR+1)
else
bQ=call('GETRANGE',KEYS[c.b],aZ+c.as*aR,-1)
end
end
return E(c.b,Q..bQ..ba,j)
end
call('SETRANGE',KEYS[c.b],0,Q)
if Z then call('APPEND',KEYS[c.b],ba)end
aE(c.b,j)
end
return{
aZ=aZ,
aR=aR,
bO=bO,
fF=eO,
aH=fG,
aS=aS,
aM=aM,
bS=bS,
cZ=cZ,
aB=cd,
Q=eM,
j=eL,
dI=fR,
}
`

const logAdopt = `local P=...
local bS,aM=P.bS,P.aM
local fj=10000
local function cb(c,e)
local B=d[e+3]
if not c.bp or c.y==B then return c end
local r=c.y
if c.r>r then r=c.r end
if c.n+r<=q then
return P.fF(c.b,c.f)
end
c.y,c.dY=B,true
if r>B then c.r=r else c.r=0 end
return c
end
local function cM(c,e)
local k=q
if c.n>q then k=c.n end
local C=bS(c,k-d[e+3],c.as)
return k,C,aM(c,c.G-1)-aM(c,C-1)
end
local function cV(c,e,C,k,ab)
local A,r,aw=C,c.r,d[e+4]
if r>0 then A,aw=bS(c,k-r,c.as),fj end
local aK=c.G-A
local cD=aK>0 and c.n==k
if not cD and aK>=aw then
if A<C then A=A+1 else cD=true end
end
if aK==0 then r=0 end
return{A=A,k=k,cD=cD,ab=ab,y=d[e+3],r=r}
end
return cb,cM,cV
`

const logRefund = `local P,ad,E=...
local aS,aM,aZ,aR,bO=P.aS,P.aM,P.aZ,P.aR,P.bO
local function fd(c,al,ax)
local bY,ah={},(c.aD+aM(c,al-1))%bO
for p=al,c.G-1 do
local h=aM(c,p)-aM(c,p-1)-(ax[p]or 0)
if h>0 then
ah=(ah+h)%bO
bY[#bY+1]={(aS(c,p)),ah}
end
end
local bE=al
if#bY==0 then
if al==c.as then return ad(c.b,c.f)end
bE=al-1
c.n,c.ah=aS(c,bE)
else
c.n,c.ah=unpack(bY[#bY])
end
local bQ=''
if bE>c.as then bQ=call('GETRANGE',KEYS[c.b],aZ+c.as*aR,aZ+bE*aR-1)end
for p=1,#bY-1 do bQ=bQ..pack('>I7I7',bY[p][1],bY[p][2])end
E(c.b,P.Q(c,0)..bQ,P.j(c))
end
local function fP(c,C,bc,ai,bf)
local v,al,ax=ai,c.G,{}
local function dL(p)
local K=aM(c,p)-aM(c,p-1)
if K>v then K=v end
ax[p],v=K,v-K
end
if bf<0 then
while al>C and v>0 do
al=al-1
dL(al)
end
elseif bf>bc then
al=P.bS(c,bf-1,C)
for p=al,c.G-1 do dL(p)end
end
if v<ai then fd(c,al,ax)end
return ai-v
end
return fP,fd
`

const bucketDescriptor = `local i,l,o=d[e+1],d[e+2],d[e+3]
local aG,at,ab,cz=d[e+4],d[e+5],d[e+6],d[e+7]
if d[e]==0 then
local H=aG*l
cz=H%i
ab=(H-cz)/i
H=o*l
at=-H%i
aG=(H+at)/i
end
`

const bucket = `local S,a=s'bucket-value'
local X,ao,aF,bo,bz=s'bucket-flow'
local aI,aO,j=s('bucket-leases',X,ao)
local cx=s('bucket-adopt',X,ao,aF,bo,bz,aI,aO)
return{
S=S,
a=a,
X=X,
ao=ao,
aF=aF,
bz=bz,
aI=aI,
aO=aO,
j=j,
cx=cx,
}
`

const bucketStep = `local k,f,T=q,0,0
local g,h,x,r,u,az,bM,j
if a then
local G=#a
local D,w,V,af,ac,ap
if G==12 then
D,w,V,af,ap=ag('>I3I4I3BB',a)
h,r,ac,ap=0,0,1,ap*1000000
elseif G==28 then
D,w,h,V,af,ac,ap=ag('>I3I4I3I5I3I5I5',a)
r=0
end
local dl=af==i and ac==l and ap==o
if dl and D>=6291456 and D<10485504 and h<i then
g=(D-8388608)*4294967296+w
x=g+V
else
bt=bt or em(q,pack,ag)
g,h,x,r,af,ac,ap,f,u=bt.S(a,0)
end
if g then
if af~=i or ac~=l or ap~=o then
g,h,x,r,u=bt.cx(g,h,x,r,af,ac,ap,i,l,o,u)
az=g
end
if g and x>q then k=x end
if u then
g,h,u=bt.aO(g,h,i,l,o,u,k)
end
end
end
local bc=k-aG
if not g then
g,h,r=bc,at,0
elseif g<bc or(g==bc and h<=at)then
g,h=bc,at
if r>0 and k>=x+r then r=0 end
end
local aH,bs=aQ,k
if f>q then aH=0 end
if bE and dS<=o-(u and bt.aI(u)or 0)then bs=k+bE end
while T<aH do
local de,v=g+ab,h+cz
if v>=i then de,v=de+1,v-i end
if de>bs or(de==bs and v>0)then break end
g,h,T=de,v,T+1
end
if T>0 or az then
j=g+aG
if h>at then j=j+1 end
local V,w=k-g,g%4294967296
if r>0 or f>0 or u or V<0 or V>=1099511627776 or i>=16777216 or o>=1099511627776 then
bt=bt or em(q,pack,ag)
bM=bt.a(g,h,k,r,i,l,o,f,u)
if u then
j=bt.j(g,h,k,r,i,l,o,u)
elseif r>0 and k+r>j then
j=k+r
end
if f>j then j=f end
elseif l==1 and h==0 and V<16777216 and i<256 and o<256000000 and o%1000000==0 then
bM=pack('>I3I4I3BB',8388608+(g-w)/4294967296,w,V,i,o/1000000)
else
bM=pack('>I3I4I3I5I3I5I5',8388608+(g-w)/4294967296,w,h,V,i,l,o)
end
end
`

const reply = `local et,aJ=0,#KEYS
local aT={}
for b=1,aJ do
aq[b]=aq[b]or''
aT[b]=#aq[b]
end
for K=1,#cf do aT[aJ+K]=cf[K]end
for p=1,#aT do
if aT[p]>et then et=aT[p]end
end
local Q
if et<256 and#aT<=2000 then
Q=string.char(1,unpack(aT))
else
for p=1,#aT do aT[p]=pack('>I4',aT[p])end
Q=string.char(4)..table.concat(aT)
end
for p=1,#aW do aW[p]=pack('>I7',aW[p])end
return Q..table.concat(aq,'',1,aJ)..table.concat(aW)..pack('>I7',q)
`

const window = `local ct,dr,br=s'window-value'
local cO,cQ,di,dq=s('window-adopt',br)
return function(a,e,aQ)
local ab,ae,eZ=d[e+1],d[e+2],d[e+5]
local f,T=0,0
local m,N,z,I,az
if a then
m,N,z,I,f=ct(a)
if m then m,N,z,I,az=cO(m,N,z,I,e)end
end
if not(m and q<m)then
m,z,I=cQ(m,z,I,e)
N=0
end
local al,aD,L,aU,cw=di(m,N,z,I,e)
local dx,aw=q-al,ae
if eZ>0 and dx<eZ then
if dx<0 then dx=0 end
local dz=math.floor(dx*d[e+6]/d[e+7])
if dz<1000000 then dz=1000000 end
if dz<aw then aw=dz end
end
if f>q then aQ=0 end
while T<aQ and L+ab<=aw do
L,T=L+ab,T+1
end
if T>0 then
N,z=aD+L,aU
I=dq(cw,N,ae)
elseif not az then
return 0
end
local j=br(m,z,I)
if f>j then j=f end
return T,dr(m,N,z,I,f),j
end
`

const counter = `local cr,cX=s'counter-value'
local cN,cK,dm=s'counter-adopt'
return function(a,e,aQ)
local ab,ae,B=d[e+1],d[e+2],d[e+3]
local f,T,R,z,ay=0,0,0,B,0
local m,M,az
if a then
m,M,R,z,ay,f=cr(a)
if m then
m,M,R,z,ay,az=cN(m,M,R,z,ay,e)
end
end
if not(m and q<m)then
m,M,R=cK(m,M,R,B)
z,ay=B,0
end
local ar=ae-dm(m,R,z,e)
if f>q then aQ=0 end
while T<aQ and M+ab<=ar do
M,T=M+ab,T+1
end
if T==0 and not az then return 0 end
local j=m
if M>0 then j=m+z end
if f>j then j=f end
return T,cX(m,M,R,z,ay,f),j
end
`

const record = `local cs,dj=s'record-value'
local ak=s'block-value'
return function(a,e,aQ,F,bH)
local F,f=cs(a)
if aQ==0 or f and q<f+60000000 then return 0 end
if a and ak(a)>q then return 0 end
local N,H=d[e+3],{}
for p=1,N do
local co,t=d[e+2+2*p],d[e+3+2*p]
H[p]={co,t,t,0,bH and bH[#bH-N+p]or 0}
end
local j=q+d[e+1]
return 1,dj(q,j,d[e+2],H),j+60000000
end
`

const slots = `local ak,bh,bi=s'block-value'
local dO=4000
local function cq(a,A)
local D,w=ag('>I3I4',a,A)
return(D-2097152)*4294967296+w
end
local function bm(au)
local w=au%4294967296
return pack('>I3I4',2097152+(au-w)/4294967296,w)
end
local function ei(a)
local f,J=0,a or''
if a then f,J=ak(a)end
local G=#J
if string.byte(J)~=3 or G%35~=22 then
return nil,nil,'',0,q,J==''and f or 0
end
local x,U=cq(J,9),cq(J,16)
local k,A=q,23
if x>q then k=x end
while A<G and cq(J,A+21)<=k do A=A+35 end
local L=0
for bT=A,G,35 do L=L+cq(J,bT+14)end
return x,U,string.sub(J,A),L,k,f
end
local function ec(t,dd)
local A=string.find(t,dd,1,true)
while A and A%35~=1 do A=string.find(t,dd,A+1,true)end
return A
end
local function ba(t,bT,f)
local A=#t+1
while A>1 and cq(t,A-14)>f do A=A-35 end
return string.sub(t,1,A-1)..bT..string.sub(t,A)
end
local function el(k,U,t,f)
local j=U+1
if t~=''then j=math.max(j,cq(t,#t-13))end
local a='\\3'..pack('>I7',j)..bm(k)..bm(U)..t
if f>0 then a=bi(a,f)end
return a,math.max(j,f),j
end
local function dL(a,e,aQ,bP)
local ab,ae=(bP or 0)+d[e+1],d[e+2]
local T,bM,j=0,nil,nil
while T<aQ do
local x,U,t,L,k,f=ei(a)
if f>q or ab>ae then break end
local dd=bm(d[e+5])..bm(d[e+6])
if d[e+4]==0 or not ec(t,dd)then
if L+ab>ae or#t>=dO*35 then break end
U=x and math.max(k,U+1)or k
local m=k+d[e+3]
t=ba(t,dd..bm(ab)..bm(m)..bm(U),m)
a,j=el(k,U,t,f)
bM=a
end
T=T+1
end
return T,bM,j
end
local function cu(a,bB,dh)
local x,U,t,F,k,f=ei(a)
local A=x and ec(t,bm(bB)..bm(dh))
if not A then return nil end
t=string.sub(t,1,A-1)..string.sub(t,A+35)
local v,j,bA=el(k,U,t,f)
if bA<=k then return false,f end
return v,j
end
local function dF(a,bB,dh,aV)
local x,U,t,F,k,f=ei(a)
local A=x and ec(t,bm(bB)..bm(dh))
if not A or k+aV<=cq(t,A+21)then return nil end
local bT=string.sub(t,A,A+20)..bm(k+aV)..string.sub(t,A+28,A+34)
t=ba(string.sub(t,1,A-1)..string.sub(t,A+35),bT,k+aV)
return el(k,U,t,f)
end
return dL,cu,dF
`

const log = `local P=...
local aS,aM,cZ=P.aS,P.aM,P.cZ
local cb,cM,cV=s('log-adopt',P)
local function eD(c,e,C,U,df,L,ab)
local p=cZ(c,aM(c,C-1)+L+ab-d[e+2],C)
if p<U then df=aS(c,p)end
return df+d[e+3]
end
local function dM(c,e,C,U,df,L)
local ae=d[e+2]
local cI,cJ=0,0
if ae>L then cI=math.floor((ae-L)/1000000)end
if L>0 then cJ=df+d[e+3]-q end
local Z=(cI+1)*1000000
if Z>ae then return cI,cJ,cJ end
return cI,eD(c,e,C,U,df,L,Z)-q,cJ
end
local function dV(c,e,ab)
local ae=d[e+2]
local k,C,L=cM(c,e)
if ab>ae-L then
if ab>ae then return 2,0,dM(c,e,C,c.G,c.n,L)end
return 1,eD(c,e,C,c.G,k,L,ab)-q,dM(c,e,C,c.G,c.n,L)
end
local aB=cV(c,e,C,k,ab)
local U=c.G
if aB.cD then U=U-1 end
local cI,fQ,cJ=dM(c,e,C,U,k,L+ab)
return 0,0,cI,fQ,cJ,aB
end
local function es(c,e)
local F,C,L=cM(c,e)
return dM(c,e,C,c.G,c.n,L)
end
return cb,dV,es
`

const holdChange = `local dv=...
local S,E,aE,remove,am=s'state'
local ad=s('drop',E,remove,am)
local ak=s'block-value'
local cs,dj=s'record-value'
local dt=9000000000000000
local cc,X,aF,bo
local cu,dF
local function fV(g,h,k,u,i,l,o,t,aa,an)
if aa>t then
local ar=0
if g<k or(g==k and h==0)then
ar=o+aF(g,h,i,l,k)
else
local z,v=X(i,l,o,0)
z,v=g-z,h-v
if v<0 then z,v=z-1,v+i end
ar=aF(z,v,i,l,k)
end
local Z=math.min(aa-t,ar)
if Z<=0 then return t end
local z,v=X(i,l,Z,0)
return t+Z,-1,z,v
end
local eI,eJ=g,h
if g<k then eI,eJ=k,0 end
local ar,v=X(i,l,o,0)
ar,v=ar-(eI-an),v-eJ
if v<0 then ar,v=ar-1,v+i end
if aa==t or ar<0 or(ar==0 and v==0)then return aa end
local H=(t-aa)%1000000
local bw,cP=bo(i,l,(t-aa-H)/1000000)
local Z
Z,cP=X(i,l,H,cP)
bw=bw+Z
if bw<ar or(bw==ar and cP<=v)then
if t-aa>2*o then bw,cP=X(i,l,2*o,0)end
return aa,1,bw,cP
end
if u then
local bL
if v>0 then bL=aF(0,i-v,i,l,ar+1)else bL=aF(0,0,i,l,ar)end
ar,v=X(i,l,bL,0)
end
return aa,1,ar,v
end
local function dJ(b,e,t,aa,an)
if not cc then cc,X,aF,bo=s('bucket-change',S,E,ad)end
local i,l,o,aG,at=dv(e)
local aj
local function en(g,h,k,u)
local aP,z,cL
aj,aP,z,cL=fV(g,h,k,u,i,l,o,t,aa,an)
return aP,z,cL
end
cc(b,i,l,o,aG,at,true,en)
return aj
end
local function fW(b,e,t,aa,F,n)
local aj
s('window-change',S,E,ad)(b,e,function(L,al)
local ai=math.min(math.max(0,t-aa),L)
if n<al then ai=0 end
ai=ai-math.max(0,math.min(aa-t,2*d[e+2]-L))
aj=t-ai
return ai
end)
return aj
end
local function fS(b,e,t,aa,F,n)
local aj
s('counter-change',S,E,ad)(b,e,function(bk,M,R,z,ek)
local eH=n>=bk-z
local ed=not eH and n>=bk-2*z
local ai
if aa<t then
ai=math.min(t-aa,eH and M or ed and R or 0)
else
local ae=d[e+2]
local ar=2*ae-M-ek
if ed then ar=math.min(ar,2*ae-R)end
ai=-math.max(0,math.min(aa-t,ar))
end
aj=t-ai
if ed then return 0,ai end
return ai,0
end)
return aj
end
local function fT(b,e,t,aa,F,n)
local cT,cd,dk,ej,P=s('log-change',E,aE,ad)
local aj
cT(b,e,function(c,k,C,L)
aj=t
local bc=k-d[e+3]
if aa<t then
local ax=dk(c,C,bc,t-aa,n)
aj=t-ax
return ax>0
end
local Z=math.min(aa-t,2*d[e+2]-L)
if Z<=0 then return end
aj=t+Z
local p=P.bS(c,n-1,C)
if n<=bc or p==c.G then return cd(c,e,C,k,Z)end
ej(c,p,{[p]=-Z})
return true
end)
return aj
end
local function eA(b,fs,...)
local a=S(b)
if a and ak(a)==dt then return true end
local v,j=fs(a,...)
if v then E(b,v,j)elseif v==false then ad(b,j)end
end
local aN={[0]=dJ,fW,fS,fT,dJ}
local function fC(b,e)
if d[e]==3 then
local F,F,F,F,P=s('log-change',E,aE,ad)
return P.aH(b).f==dt
end
local a=S(b)
return a and ak(a)==dt
end
local function ez(K,C,Y)
for call=1,Y do
if d[C+3*call-3]==K[1]then return C+3*call-3,call end
end
end
local function fU(O,C,Y,H,n,ga)
for F,K in ipairs(H)do
local p,call=ez(K,C,Y)
if p then
local e,aa=d[p+1],d[p+2]
if d[e]==7 then
if eA(O+call,cu,d[C-2],d[C-1])then return true end
K[3]=0
elseif not ga then
local aj=aN[d[e]](O+call,e,K[2],aa,K[5],n)
if not aj then return true end
K[3],K[4]=aj,math.max(0,aa-aj)
end
end
end
end
local function fK(O,C,Y,H,aV)
for call=1,Y do
local co,e=d[C+3*call-3],d[C+3*call-2]
for F,K in ipairs(H)do
if K[1]==co and d[e]==7 then
if eA(O+call,dF,d[C-2],d[C-1],aV)then return true end
break
end
end
end
end
local function fz(O,C,Y)
if Y<2 then return false end
for call=1,Y do
if fC(O+call,d[C+3*call-2])then return true end
end
end
return function(O,bn,C,Y)
local a=S(O)
if a and ak(a)==dt then return 5,0,{}end
local n,j,bD,H=cs(a)
if not n or q>=j+60000000 then return 0,0,{}end
if bD==1 then return 4,j,H end
if q>=j then
for F,K in ipairs(H)do
local p=ez(K,C,Y)
if bn==-1 and p then K[4]=math.max(0,d[p+2]-K[3])end
end
return 3,j,H
end
if fz(O,C,Y)then return 5,0,{}end
if not cu then
local F
F,cu,dF=s'slots'
end
local dK=2
if bn<0 then
if fU(O,C,Y,H,n,bn==-2)then return 5,0,{}end
bD=1
else
if fK(O,C,Y,H,bn)then return 5,0,{}end
dK,j=1,math.max(j,q+bn)
end
E(O,dj(n,j,bD,H),j+60000000)
return dK,j,H
end
`

export const adjustProgram: Program = {
  sha1: '0dfea0cd6c661203a3f5e6327df57f1aba910370',
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
local S,E,aE,remove,am=s'state'
local ad=s('drop',E,remove,am)
local function ex(b,e,aP)
local cc=s('bucket-change',S,E,ad)
`,
      bucketDescriptor,
      `return cc(b,i,l,o,aG,at,false,function(F,F,k)
if aP>0 and bf>=0 and bf<=k-aG then return nil end
return aP,ab,cz
end)
end
local function fo(b,e,aP)
local ai,ae=d[e+1],d[e+2]
return s('window-change',S,E,ad)(b,e,function(L,al)
if aP<0 then return-math.max(0,math.min(2*ae-L,ai))end
if bf>=0 and bf<al then return 0 end
return math.min(ai,L)
end)
end
local function fl(b,e,aP)
local ai,ae=d[e+1],d[e+2]
return s('counter-change',S,E,ad)(b,e,function(bk,M,R,z,ek)
if aP<0 then return-math.max(0,math.min(2*ae-M-ek,ai)),0 end
if bf>=0 and bf<bk-2*z then return 0,0 end
local al=bk-z
local cE,dg=math.min(M,ai),0
if bf>=0 and bf<al then cE=0 end
if bf<al then dg=math.min(R,ai-cE)end
return cE,dg
end)
end
local function fm(b,e,aP)
local cT,cd,dk=s('log-change',E,aE,ad)
local ai=d[e+1]
return cT(b,e,function(c,k,C,L)
if aP>0 then return dk(c,C,k-d[e+3],ai,bf)>0 end
local ba=math.min(ai,2*d[e+2]-L)
if ba>0 then cd(c,e,C,k,ba)end
end)
end
local function fn(b)
local ak=s'block-value'
local a=S(b)
return a and ak(a)==9000000000000000
end
local aN={[0]=ex,fo,fl,fm,ex,[7]=fn}
local bv={}
for p=1,d[3]do
local e=d[2+2*p]
if aN[d[e]](p,e,d[3+2*p])then bv[#bv+1]=p end
end
return bv
`,
    ].join(''),
}

export const blockProgram: Program = {
  sha1: '4816f4903c62f904e567c781ad4f724d025ced43',
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
local S,E,aE,remove,F,cl=s'state'
local ak,bh=s'block-value'
local eo=s'state-until'
local function gc(a)
local bW,cR=s'bucket-value'
local X,ao=s'bucket-flow'
local aI,aO,cj=s('bucket-leases',X,ao)
local g,h,x,r,i,l,o,F,u=bW(a,0)
if not u then return nil,''end
local k=q
if x>q then k=x end
g,h,u=aO(g,h,i,l,o,u,k)
if not u then return nil,''end
g,h=ao(-math.huge,0,i,l,o-aI(u),k)
a=cR(g,h,k,r,i,l,o,0,u)
return cj(g,h,k,r,i,l,o,u),a
end
local B=d[2]
local bv={}
local function fr(b)
local P=s('log-value',E,aE)
local c=P.aH(b)
if B<0 or not c.bp then return c.f,''end
c.f=0
if B>0 then c.f=q+B end
call('SETRANGE',KEYS[b],0,P.Q(c,c.as))
aE(b,P.j(c))
end
for b=1,#KEYS do
local aL,a=cl and cl(b),nil
if aL then a=S(b)else a=redis.pcall('GETRANGE',KEYS[b],0,2047)end
if type(a)~='string'then a=''end
if#a==2048 and string.byte(a)~=2 then a=call('GET',KEYS[b])end
local f,J,j=0,a,nil
if string.byte(a)==2 then
f,J=fr(b)
elseif a~=''then
f,J=ak(a)
j=eo(a)
if f==9000000000000000 then
f=0
if B>=0 then bv[#bv+1],J=b,nil end
elseif not j and J~=''then
f,J=0,''
end
end
if J then
if B<0 then
j,J=gc(J)
elseif B>0 then
f=q+B
else
f=0
end
if f>0 then
if J~=''then
E(b,bh(f)..J,math.max(f,j))
elseif f>q then
E(b,bh(f),f)
elseif aL then
call('HSET',KEYS[b],aL,bh(f))
else
call('SET',KEYS[b],bh(f),'KEEPTTL')
end
elseif J~=''then
E(b,J,j)
elseif a~=''or B<0 then
remove(b)
end
end
end
return bv
`,
    ].join(''),
}

export const bucketsProgram: Program = {
  sha1: '100f6b184520bb9ac7ef314e81c630aedaaeb4aa',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,ag,format=struct.pack,struct.unpack,string.format
local bG=call('TIME')
local q=bG[1]*1000000+bG[2]
local bt
local function em(q,pack,ag)
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
local cz=H%i
local ab=(H-cz)/i
H=o*l
local at=-H%i
local aG=(H+at)/i
local aJ,ft,am=#KEYS,#ARGV>5,ARGV[5]+0
local aq={}
if aJ==1 then
aq=call('MGET',KEYS[1])
elseif aJ>1 then
aq=call('MGET',unpack(KEYS))
end
local cf,aW,aQ={},{},1
local bE,dS
for b=1,aJ do
local a=aq[b]
if ft then aQ=ARGV[5+b]+0 end
`,
      bucketStep,
      `if bM then call('SET',KEYS[b],bM,'PXAT',format('%d',(j+am)/1000+1))end
cf[b]=T
end
`,
      reply,
    ].join(''),
}

export const cellsProgram: Program = {
  sha1: 'e77564d01c202b861a87cd15b00056e86a8bee5d',
  source: () =>
    [
      ``,
      clock,
      `local bU=call('INFO','server')..call('INFO','replication')
local bg=string.match(bU,'run_id:(%x+)')..'-'..string.match(bU,'master_replid:(%x+)')..'-'
local aC=call('GET',KEYS[1])
local bC=aC and string.match(aC,'^%S+')or''
if string.sub(bC,1,#bg)~=bg then bC=bg end
local ch=call('ZRANGEBYSCORE',KEYS[3],'('..string.format('%.0f',d[2]),'+inf','LIMIT',0,d[3])
local av={bC,q,aC,(call('GET',KEYS[2])or 0)+0,#ch<d[3]and 1 or 0,call('ZCARD',KEYS[3])}
for p=1,#ch do av[6+p]=call('GET',ch[p])end
return av
`,
    ].join(''),
}

export const consumeProgram: Program = {
  sha1: '89a7fe22767a0fafe92106a9d3f90c9875bf8d5c',
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
local aN,P={},nil
local function dA(dn)
if dn==1 then
aN[1]=s'window'
elseif dn==2 then
aN[2]=s'counter'
elseif dn==6 then
aN[6]=s'record'
elseif dn==7 then
aN[7]=s'slots'
else
local bt
local function em()
return s'bucket'
end
local function bj(a,e,aQ,bP)
`,
      bucketDescriptor,
      `local bE,dS
if d[e]==5 then
bE,dS=d[e+8],d[e+9]+(bP or 0)
end
`,
      bucketStep,
      `return T,bM,j,g
end
aN[0],aN[4],aN[5]=bj,bj,bj
end
return aN[dn]
end
local bI=d[3]
local S,E,aE
if ARGV[2]or bZ~=0 or bI<#KEYS or bI>4000 then S,E,aE=s'state'end
local aq={}
if ARGV[2]and ARGV[2]~=''then
for b=1,bI do aq[b]=S(b)end
elseif bI>0 then
aq=call('MGET',unpack(KEYS,1,math.min(bI,4000)))
for b=4001,bI do aq[b]=S(b)end
end
local bl,j={},{}
local bK,G={},0
local cW,dT={},d[2]%2
for p=5+d[4]-(d[2]-dT)/2,4+d[4]do cW[d[p]]=true end
local cf={}
local function ew(n,Y,Q,x)
for p=n,n+2*Y-2,2 do
local b,e=d[p],d[p+1]
if d[e]==3 then
bK[Q+3],bK[Q+4],bK[Q+5]=P.gb(x[b],e)
Q=Q+5
end
end
end
local aT={}
local function fA(e)
local aV,t=d[e+1],d[e+5]
local cv=d[e+3]==1 and aV<1099511627776 and t<1099511627776
aT[e]=cv and pack('>BI7I5I4I5',8+d[e+2],q,aV,d[e+4],t)
return aT[e]
end
local function fO(b,e,aC,cG)
local Q=aT[cG]
if Q==nil then Q=fA(cG)end
if not Q or bl[aC]or aq[aC]or cW[b]or cW[aC]then return end
local T,a,bA,an=(aN[d[e]]or dA(d[e]))(bl[b]or aq[b],e,1)
if T==0 then return end
local dw=(an or 0)~=0 and an-q+549755813888 or 0
if dw<0 or dw>=1099511627776 or(dw==0 and(an or 0)~=0)then return end
bl[b],j[b]=a,bA
bl[aC],j[aC]=Q..pack('>I5',dw),q+d[cG+1]+60000000
return 1
end
local fk={[0]=true,true,true,[4]=true}
local function fy(n,Y)
if Y==2 and d[d[n+3]]==6 and fk[d[d[n+1]]]then
local T=fO(d[n],d[n+1],d[n+2],d[n+3])
if T then return T end
end
local aH=true
local aJ,f,x,ax,eB,bH={},{},{},{},{},{}
local Q=G
for p=n,n+2*Y-2,2 do
local b,e=d[p],d[p+1]
if d[e]==3 then
if not x[b]then x[b]=P.cx(P.eS(b),e)end
local c,ab=x[b],(ax[b]or 0)+d[e+1]
ax[b]=ab
local eg
eg,bK[G+2],bK[G+3],bK[G+4],bK[G+5],eB[b]=
P.fu(c,e,ab)
bK[G+1]=eg
G=G+5
bH[#bH+1]=0
if eg>0 or c.f>q then aH=false end
elseif aH then
local bP=d[e]~=7 and aJ[b]or bl[b]or aq[b]
local T,a,bA,an=
(aN[d[e]]or dA(d[e]))(bP,e,1,ax[b],bH)
bH[#bH+1]=an or 0
if T==0 then aH=false else aJ[b],f[b]=a,bA end
if d[e]==5 then ax[b]=(ax[b]or 0)+d[e+9]end
if d[e]==7 then ax[b]=(ax[b]or 0)+d[e+1]end
end
end
if aH then
for p=n,n+2*Y-2,2 do
if cW[d[p]]and not aq[d[p]]then return 0 end
end
if dT==0 then ew(n,Y,Q,x)end
for b,a in pairs(aJ)do bl[b],j[b]=a,f[b]end
for b,aB in pairs(eB)do P.aB(b,x[b],aB)end
return 1
end
ew(n,Y,Q,x)
for p=n,n+2*Y-2,2 do
local b,e=d[p],d[p+1]
if d[e]~=3 then
local F,a,bA=(aN[d[e]]or dA(d[e]))(bl[b]or aq[b],e,0)
if a then bl[b],j[b]=a,bA end
end
end
return 0
end
if bI<#KEYS then
local bF,aH=s('log-value',E,aE),{}
local cb,dV,es=s('log',bF)
P={
eS=function(b)
if not aH[b]then aH[b]=bF.aH(b)end
return aH[b]
end,
cx=cb,
fu=dV,
gb=es,
aB=function(b,c,aB)
aH[b]=c
bF.aB(c,aB)
end,
dI=function()
for F,c in pairs(aH)do
if c.dY then bF.dI(c)end
end
end,
}
for b=bI+1,#KEYS do
local c=P.eS(b)
aq[b]=(c.bp or c.f>0)and c.f
end
end
local n,U=5+d[4],#d
while n<=U do
local Y=d[n]
local C,eC,e,aQ=1,1,0,1
if Y==0 then e,C,eC,aQ=d[n+1],d[n+2],d[n+3],d[n+4]end
for b=C,eC do
local T,a,bA
if Y==0 then
T,a,bA=(aN[d[e]]or dA(d[e]))(bl[b]or aq[b],e,aQ)
if cW[b]and not aq[b]then
T=0
elseif a then
bl[b],j[b]=a,bA
end
else
T=fy(n+1,Y)
end
cf[#cf+1]=T
end
n=n+5
if Y>0 then n=n-4+2*Y end
end
if dT==1 then
local U,fh
for b,a in pairs(bl)do
if E then
E(b,a,j[b])
else
if j[b]~=U then U,fh=j[b],string.format('%d',j[b]/1000+1)end
call('SET',KEYS[b],a,'PXAT',fh)
end
end
if P then P.dI()end
end
for b=bI+1,#KEYS do aq[b]=aq[b]and pack('>I7',aq[b])end
local aW=bK
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
  sha1: 'e4035a105541ec0cb4b81bc94584d974e860c865',
  source: () =>
    [
      `do
local call,KEYS,ARGV=redis.call,KEYS,ARGV
local ag=struct.unpack
local bb=cjson.decode(ARGV[#ARGV])
ARGV[#ARGV]=nil
local cy=(#bb-5)/6
local dH=#KEYS-cy
if bb[1]==1 then
local bU=call('INFO','server')..call('INFO','replication')
local bg=string.match(bU,'run_id:(%x+)')..'-'..string.match(bU,'master_replid:(%x+)')..'-'
local aC=call('GET',KEYS[dH])
if aC and string.sub(aC,1,#bg)~=bg then call('DEL',KEYS[dH])end
if string.sub(bb[2],1,#bg)~=bg then return{0}end
end
local ch={}
for by=0,cy do ch[by+1]=KEYS[dH+by]end
for by=1,cy do ch[cy+1+by]=KEYS[bb[6*by]]end
local av=call('MGET',unpack(ch))
local aC=av[1]
if not aC or string.sub(aC,1,#bb[3])~=bb[3]then return{0}end
local bX={}
for by=1,cy do
local n=6*by
local bJ,a=av[1+by],av[cy+1+by]
local ci=bb[n+1]==(bJ and tonumber(string.match(bJ,'^%d+'))or 0)
if ci and bb[n+2]>0 then
if a and string.byte(a)and string.byte(a)>=224 then a=string.sub(a,8)end
local G=a and#a or 0
if G==0 then
local q=bb[5]
if q==0 then
local bG=call('TIME')
q=bG[1]*1000000+bG[2]
end
ci=q>=bb[n+5]
else
local D,w,V,x,i,l,o,F
if G==12 then
D,w,V,i,o=ag('>I3I4I3BB',a)
l,o=1,o*1000000
elseif G==28 then
D,w,F,V,i,l,o=ag('>I3I4I3I5I3I5I5',a)
elseif G==49 then
D,w,F,x,F,i,l,o=ag('>I3I4I7I7I7I7I7I7',a)
end
x=x or D and(D-8388608)*4294967296+w+V
ci=D and x>=bb[4]and i==bb[n+2]and l==bb[n+3]and o==bb[n+4]
end
end
if not ci then bX[#bX+1]=by end
end
if#bX>0 then return bX end
for O=#KEYS,dH,-1 do KEYS[O]=nil end
end
`,
    ].join(''),
}

export const holdsProgram: Program = {
  sha1: 'acd7e17644758735c8269082e8e41bd698715e6a',
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
local bx,E
if not ARGV[2]and#KEYS<=4000 then
bx={}
local aq=call('MGET',unpack(KEYS))
for b=1,#KEYS do bx[KEYS[b]]=aq[b]end
if bZ~=0 then
local F
F,E=s'state'
end
end
local function dN(b,a,j)
bx[KEYS[b]]=a
if E then return E(b,a,j)end
call('SET',KEYS[b],a,'PXAT',string.format('%d',j/1000+1))
end
local function dv(e)
`,
      bucketDescriptor,
      `return i,l,o,aG,at
end
local function dJ(b,e,t,aa,an)
local i,l,o,aG,at=dv(e)
local bc,Z=q-aG,(aa-t)*l
if aG>1000000000000000 or Z>o*l or-Z>o*l then return end
local a,g,h=bx[KEYS[b]],bc,at
local D,w,V
if a then
local af,ac,ap
if#a==12 then
D,w,V,af,ap=ag('>I3I4I3BB',a)
h,ac,ap=0,1,ap*1000000
elseif#a==28 then
D,w,h,V,af,ac,ap=ag('>I3I4I3I5I3I5I5',a)
else
return
end
if af~=i or ac~=l or ap~=o or D<6291456 or D>=10485504 or h>=i then return end
g=(D-8388608)*4294967296+w
if g+V>q or g>=q then return end
if g<bc or(g==bc and h<=at)then g,h=bc,at end
end
if Z==0 then return true end
if Z<0 then
local T=(q-an)*i
if T>9000000000000000 or T<-9000000000000000 then return end
local ar=o*l-T
if ar<=0 then return true end
if-Z>ar then return end
end
local ah=h+Z%i
local v=ah%i
g,h=g+(Z-Z%i)/i+(ah-v)/i,v
V=q-g
local j=g+aG
if h>at then j=j+1 end
if j<=q then
bx[KEYS[b]]=false
call('DEL',KEYS[b])
return true
end
if V<0 or V>=1099511627776 or i>=16777216 or o>=1099511627776 then return end
w=g%4294967296
D=8388608+(g-w)/4294967296
if l==1 and h==0 and V<16777216 and i<256 and o<256000000 and o%1000000==0 then
dN(b,pack('>I3I4I3BB',D,w,V,i,o/1000000),j)
else
dN(b,pack('>I3I4I3I5I3I5I5',D,w,h,V,i,l,o),j)
end
return true
end
local function aO(O,bn,C)
local a,e=bx[KEYS[O]],d[C+1]
if bn>=0 or d[e]~=0 or not a or#a~=27 or string.byte(a)~=8 then return end
local n,z,co,t,an=ag('>I7I5I4I5I5',a,2)
local j,aa=n+z,bn==-1 and d[C+2]or t
if co~=d[C]or q>=j or an==0 or aa>=1099511627776 then return end
if bn==-1 and not dJ(O+1,e,t,aa,n+an-549755813888)then return end
a=string.sub(a,2)
if aa==t then
dN(O,'\\9'..a,j+60000000)
else
dN(O,'\\13'..a..pack('>I5I5',aa,0),j+60000000)
end
return j,t,aa
end
local bR
local aW={}
local O,cp=1,3
for F=1,d[2]do
local bn,Y=d[cp],d[cp+1]
local f,t,aj
if bx and Y==1 then f,t,aj=aO(O,bn,cp+4)end
if f then
aW[#aW+1]=pack('>I7I7I7I7I7',2,f,t,aj,0)
else
bR=bR or s('hold-change',dv)
local dK,j,H=bR(O,bn,cp+4,Y)
aW[#aW+1]=pack('>I7I7',dK,j)
for call=1,Y do
local t,aj,bV=0,0,0
for p=#H,1,-1 do
local K=H[p]
if K[1]==d[cp+3*call+1]then t,aj,bV=K[2],K[3],K[4]end
end
aW[#aW+1]=pack('>I7I7I7',t,aj,bV)
end
for b=O,O+Y do
local v=bx and redis.pcall('GET',KEYS[b])
if bx then bx[KEYS[b]]=type(v)=='string'and v end
end
end
O,cp=O+1+Y,cp+4+3*Y
end
return table.concat(aW)
`,
    ].join(''),
}

export const leaseProgram: Program = {
  sha1: '43ee23586399f303c22c7e28b37ca809295f8854',
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
local S,E,F,remove,am=s'strings'
local ad=s('drop',E,remove,am)
local bj=s'bucket'
local X,ao,aF,aI=bj.X,bj.ao,bj.aF,bj.aI
local dO=64
local function gd(u,aA)
local bP=#u+1
for p,dh in ipairs(u)do
if dh[4]>aA[4]then
bP=p
break
end
end
table.insert(u,bP,aA)
return u
end
local function fx(b,a,n)
local i,l,o=d[n],d[n+1],d[n+2]
local eK,aw,bT,fe,fE=d[n+3],d[n+4],d[n+5],d[n+6],d[n+7]
local k,f=q,0
local g,h,x,r,u,cU
if a then
local af,ac,ap
g,h,x,r,af,ac,ap,f,u=bj.S(a,0)
if g and(af~=i or ac~=l or ap~=o)then
g,h,x,r,u=bj.cx(g,h,x,r,af,ac,ap,i,l,o,u)
cU=true
end
if g and x>q then k=x end
end
if f>q then aw=0 end
local cF,aX={},nil
local bX=false
if u then
local fY,fX,bD=bj.aO(g,h,i,l,o,u,k)
for F,aA in ipairs(bD or{})do
if aA[1]==bT then aX=aA else cF[#cF+1]=aA end
end
bX=aX and fe<=aX[2]
if not bX then g,h,u,cU=fY,fX,bD,true end
end
local cg=0
if not bX then
local aK,fc,er=0,0,k+fE
if aX then
aK=math.min(d[n+8],aX[3])
fc=math.min(d[n+9],aX[3]-aK)
er=math.max(er,aX[4])
local bw,v=X(i,l,fc,0)
h=h-v
if h<0 then bw,h=bw+1,h+i end
local bd=aI(cF)+aK
g,h=ao(g-bw,h,i,l,o-bd,k)
if x<k then x=k end
u=cF
end
local dB=0
if aw>=eK and(aX or#cF<dO)then
dB=o
if g then
local fw,ea=ao(g,h,i,l,o,k)
dB=aF(fw,ea,i,l,k)
end
end
if dB>=eK then cg=math.min(aw,dB)end
if cg>0 then
local w,ck=ao(-math.huge,0,i,l,o,k)
if not g then
g,h,r=w,ck,0
elseif g<w or(g==w and h<=ck)then
g,h=w,ck
if r>0 and k>=x+r then r=0 end
end
local z,v=X(i,l,cg,h)
g,h,x=g+z,v,k
end
if aK+cg>0 then u=gd(cF,{bT,fe,aK+cg,er})end
cU=cU or cg>0
end
if cU then
if u and#u==0 then u=nil end
if not g then
ad(b,f)
else
local j=bj.j(g,h,x,r,i,l,o,u or{})
if f>j then j=f end
E(b,bj.a(g,h,x,r,i,l,o,f,u),j)
end
end
return cg
end
local aq,aW,cf={},{},{}
for p=1,#KEYS do
aq[p]=S(p)
aW[p]=fx(p,aq[p],3+(p-1)*d[2])
end
`,
      reply,
    ].join(''),
}

export const needsProgram: Program = {
  sha1: 'dbc2c29654707688877e9d81db652cbe58724988',
  source: () =>
    [
      ``,
      clock,
      `local dZ=call('HGETALL',KEYS[1])
local av,ci={},false
for p=1,#dZ,2 do
local eW,aS=dZ[p],dZ[p+1]
local n=tonumber(string.match(aS,'^%d+'))
if eW==d[2]then
ci=true
elseif q-n>d[3]or n-q>d[3]then
call('HDEL',KEYS[1],eW)
else
av[#av+1]=string.sub(aS,18)
end
end
if d[5]==''then
call('HDEL',KEYS[1],d[2])
elseif ci or#av<d[4]then
call('HSET',KEYS[1],d[2],string.format('%016.0f ',q)..d[5])
call('PEXPIRE',KEYS[1],math.ceil(d[3]/1000))
end
return av
`,
    ].join(''),
}

export const regionProgram: Program = {
  sha1: 'c39d90743d8563ac38f80314f32204cafa65dc52',
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
local S,E,F,remove,am=s'strings'
local bU=call('INFO','server')..call('INFO','replication')
local bg=string.match(bU,'run_id:(%x+)')..'-'..string.match(bU,'master_replid:(%x+)')..'-'
local aC=call('GET',KEYS[1])
local dc=#KEYS>3
local a=dc and S(4)
local bJ=dc and call('GET',KEYS[5])
local dW=a and redis.sha1hex(a)or''
local dQ=aC and string.match(aC,'^%S+ %d+ ')or''
local bR=bJ and tonumber(string.match(bJ,'^%d+'))or 0
local bC=string.match(dQ,'^%S+')or''
if string.sub(bC,1,#bg)~=bg then
local k=call('TIME')
local fL=d[3]==dQ and string.sub(d[2],1,#bg)==bg
bC=fL and d[2]or bg..string.format('%x%05x',k[1],k[2])
end
local dl=d[2]==bC and d[3]==dQ
if dl and dc then dl=(d[5]==dW or d[7]=='-')and d[6]==bR end
if not dl then return{bC,q,aC,a,dW,bJ}end
local aK=not dc or d[10]=='-'or d[10]==''
if not aK and bR==0 and call('ZCARD',KEYS[3])>=d[11]then return 0 end
local au=call('INCR',KEYS[2])
if d[4]~=''then call('SET',KEYS[1],bC..' '..au..' '..d[4])end
if not dc then return au end
if d[7]~='-'then
local ad=s('drop',E,remove,am)
local F,F,bi=s'block-value'
local ey=string.gsub(d[7],'..',function(dX)
return string.char(tonumber(dX,16))
end)
local f,j=d[8],d[9]
if ey==''then ad(4,f)else E(4,bi(ey,f),math.max(f,j))end
end
if d[10]==''then
call('DEL',KEYS[5])
call('ZREM',KEYS[3],KEYS[5])
elseif d[10]~='-'then
bJ=au..' '..d[10]
call('SET',KEYS[5],bJ)
call('ZADD',KEYS[3],au,KEYS[5])
end
if d[7]=='-'then return{bC,q,aC,a,dW,bJ}end
return au
`,
    ].join(''),
}

export const releaseProgram: Program = {
  sha1: '9d67f37085ef6ece448342876e415e3ae9ad8035',
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
local S,E,F,remove,am=s'state'
local ad=s('drop',E,remove,am)
local ak=s'block-value'
local F,cu=s'slots'
local bv={}
for b=1,#KEYS do
local a=S(b)
if a and ak(a)==9000000000000000 then
bv[#bv+1]=b
else
local v,j=cu(a,d[2*b],d[2*b+1])
if v then E(b,v,j)elseif v==false then ad(b,j)end
end
end
return bv
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
  sha1: 'c53ef0d3e728e2f833bc96c667f136a0e7343294',
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
local S,E=s'state'
local aJ=#KEYS
local av={}
for b=1,aJ do
local a=S(b)
av[b],av[aJ+b]=a,a and redis.sha1hex(a)or''
end
if#d==1 then
av[2*aJ+1]=q
return av
end
for b=1,aJ do
if av[aJ+b]~=d[4*b-2]then return 0 end
end
local F,bh,bi=s'block-value'
local eP,fJ=q+1000000,1+q%1000000000
for b=1,aJ do
local a=string.gsub(d[4*b-1],'..',function(dX)
return string.char(tonumber(dX,16))
end)
local f,j=d[4*b],d[4*b+1]
if a==''then
E(b,bh(f>q and f or fJ),math.max(f,eP))
else
if string.byte(a)~=2 then a=bi(a,f)end
E(b,a,math.max(f,j,eP))
end
end
return 1
`,
    ].join(''),
}
