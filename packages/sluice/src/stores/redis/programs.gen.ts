// Made from the programs beside this file by `npm run generate`; edit those, not this.

/** A program: its digest, and its text, which is put together only for a server that does not know it. */
export interface Program {
  readonly sha1: string
  readonly source: () => string
}

const clock = `local call,KEYS=redis.call,KEYS
local pack,ag=struct.pack,struct.unpack
local d=cjson.decode(ARGV[1])
local bY=d[1]
local bE=bY==0 and call('TIME')
local q=bE and bE[1]*1000000+bE[2]or bY
`

const state = `local eY,eW,aD,eZ,am,cA=s'strings'
local dC=ARGV[2]and ARGV[2]~=''and cjson.decode(ARGV[2])
if not dC then
return eY,eW,aD,eZ,am
end
local cz,dS=s'packed-value'
local function ck(b)
if dC[2*b]<0 then return nil end
return pack('>I4I4',dC[2*b-1],dC[2*b])
end
local function S(b)
local aK=ck(b)
if not aK then return eY(b)end
local av=redis.pcall('HMGET',KEYS[b],aK,'')
if av.err then return false end
return av[1]and cz(av[1],av[2]or'')
end
local function fK(O,aK,a,j)
local Q=redis.pcall('HGET',O,'')
if type(Q)=='table'then call('DEL',O)end
if type(Q)~='string'or#Q<6 or(#Q-6)%13>0 then Q=false end
local cd,be=dS(a,Q and string.sub(Q,7)or'')
local U=Q and ag('>I6',Q)or 0
local ba
if bY==0 and U*1000>=j then
if#Q==6+#be then
ba=call('HSET',O,aK,cd)
else
ba=call('HSET',O,aK,cd,'',string.sub(Q,1,6)..be)
end
else
local ec=j+math.max(0,j-q)/4
ba=call('HSET',O,aK,cd,'',pack('>I6',math.max(U,math.floor(ec/1000)))..be)
if bY~=0 and Q then
call('PEXPIREAT',O,cA(ec),'GT')
else
call('PEXPIREAT',O,cA(ec))
end
end
if ba>0 and bY==0 and q%16==0 then
s('sweep',cz,am)(O)
end
end
local function E(b,a,j)
local aK=ck(b)
if aK then return fK(KEYS[b],aK,a,j+am)end
eW(b,a,j)
end
local function remove(b)
local aK=ck(b)
if not aK then
eZ(b)
elseif type(redis.pcall('HGET',KEYS[b],aK))~='table'then
call('HDEL',KEYS[b],aK)
end
end
return S,E,aD,remove,am,ck
`

const strings = `local am=(ARGV[3]or 0)+0
local function S(b)
local a=redis.pcall('GET',KEYS[b])
return type(a)=='string'and a
end
local function cA(j)
if bY==0 then return math.floor(j/1000)+1 end
local k=call('TIME')
return k[1]*1000+math.ceil(math.max(0,j-q)/1000)+60000
end
local function E(b,a,j)
call('SET',KEYS[b],a,'PXAT',cA(j+am))
end
local function aD(b,j)
call('PEXPIREAT',KEYS[b],cA(j+am))
end
local function remove(b)
call('DEL',KEYS[b])
end
return S,E,aD,remove,am,cA
`

const packedValue = `local function cz(a,Q)
local G=#a
if G~=13 and G~=14 then return a end
local D,w,V,p=ag('>I3I4I5B',a)
if D<6291456 or D>=10485760 or#Q<6+13*p or p<1 then return a end
local i,l,o=ag('>I3I5I5',Q,13*p-6)
local h=0
if G==14 then h=string.byte(a,14)end
return pack('>I3I4I3I5I3I5I5',D,w,h,V,i,l,o)
end
local function dS(a,be)
if#a~=28 then return a,be end
local D,w,h,V=ag('>I3I4I3I5',a)
if D<6291456 or D>=10485760 or h>255 then return a,be end
local cF,p=string.sub(a,16),0
for n=1,#be,13 do
if string.sub(be,n,n+12)==cF then p=(n+12)/13 end
end
if p==0 then
if#be>51 then return a,be end
be=be..cF
p=#be/13
end
local cd=pack('>I3I4I5B',D,w,V,p)
if h>0 then cd=cd..string.char(h)end
return cd,be
end
return cz,dS
`

const sweep = `local cz,am=...
local ak=s'block-value'
local em=s'state-until'
return function(O)
local bD=call('HRANDFIELD',O,128,'WITHVALUES')
local Q=call('HGET',O,'')
for p=1,#bD,2 do
local a=cz(bD[p+1],Q)
local f=ak(a)
if bD[p]~=''and(em(a)or 0)+am<=q and f+am<=q then call('HDEL',O,bD[p])end
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
local function bg(f)
local w=f%4294967296
return pack('>I3I4',14680064+(f-w)/4294967296,w)
end
local function bh(a,f)
if f+60000000<=q then return a end
return bg(f)..a
end
return ak,bg,bh
`

const stateUntil = `local ak=s'block-value'
local bV=s'bucket-value'
local X,ao=s'bucket-flow'
local F,F,ci=s('bucket-leases',X,ao)
local cs,F,bq=s'window-value'
local cq=s'counter-value'
local cr=s'record-value'
return function(a)
local g,h,x,r,i,l,o,F,u=bV(a,0)
if g then return ci(g,h,x,r,i,l,o,u or{})end
local m,F,B,I=cs(a)
if m then return bq(m,B,I)end
local bj,M,F,y=cq(a)
if bj and M>0 then return bj+y end
local F,eE=cr(a)
if eE then return eE+60000000 end
local F,J=ak(a)
if string.byte(J)==3 then return(ag('>I7',J,2))end
return bj
end
`

const bucketValue = `local ak,F,bh=s'block-value'
local function fC(h,x,r,i,l,o)
if h>=i or x>9007199254740991 or r>3200000000000000 then return false end
if l<1 or o<1 or l>9007199254 then return false end
return i*(o/1000000+2)<=9007199254740992 and o/i*l<=3200000000000000
end
local function bV(a,f)
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
if not fC(h,x,r,i,l,o)then return nil,nil,nil,nil,nil,nil,nil,0 end
for n=50,G,28 do
u=u or{}
u[#u+1]={ag('>I7I7I7I7',a,n)}
end
return g,h,x,r,i,l,o,f,u
end
local eo,J=ak(a)
if eo==0 or f>0 then return nil,nil,nil,nil,nil,nil,nil,0 end
if J==''then return nil,nil,nil,nil,nil,nil,nil,eo end
return bV(J,eo)
end
local function cQ(g,h,x,r,i,l,o,f,u)
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
if f>0 then return bh(a,f)end
return a
end
return bV,cQ
`

const bucketFlow = `local function X(i,l,bt,A)
local bZ=l*1000000
local dn,eL=bZ%i,l%i
local H=bt%1000000
local bp=(bt-H)/1000000
local ah=A+bp*dn+H*eL
local v=ah%i
return bp*((bZ-dn)/i)+H*((l-eL)/i)+(ah-v)/i,v
end
local function eT(i,l,fg,A,z)
local N=0
if z<=0 then return N end
local dZ=(z-A/i)/(l*fg/i)*(1-2^-50)
if dZ>0 then N=dZ-dZ%1 end
while true do
local aV,v=X(i,l,(N+1)*fg,A)
if aV>z or(aV==z and v>0)then return N end
N=N+1
end
end
local function ao(g,h,i,l,bt,k)
if bt<0 then bt=0 end
local z,v=X(i,l,bt,0)
local w,cj=k-z,0
if v>0 then w,cj=w-1,i-v end
if g>w or(g==w and h>=cj)then return g,h end
return w,cj
end
local function aE(g,h,i,l,k)
local bp=eT(i,l,1000000,h,k-g)
local aV,v=X(i,l,bp*1000000,h)
g,h=g+aV,v
local H=eT(i,l,1,h,k-g)
return bp*1000000+H,g,h,H
end
local function bn(i,l,bp)
local bZ=l*1000000
local h=bZ%i
local da=h%131072
local bA=bp*((h-da)/131072)
local C=bA%i
local cR=C*131072+bp*da
local v=cR%i
return bp*((bZ-h)/i)+(bA-C)/i*131072+(cR-v)/i,v
end
local function by(i,l,o,k)
return math.min(k+3155760000000000,9007199254740990-(X(i,l,o,0)))
end
return X,ao,aE,bn,by
`

const bucketLeases = `local X,ao=...
local function aH(u)
local bd=0
for F,aA in ipairs(u)do bd=bd+aA[3]end
return bd
end
local function aO(g,h,i,l,o,u,k)
local bd,v=aH(u),{}
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
local function ci(g,h,x,r,i,l,o,u)
local bd=aH(u)
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
return aH,aO,ci
`

const windowValue = `local ak,F,bh=s'block-value'
local function cs(a)
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
local function dq(m,N,y,I,f)
local w,cu=m%4294967296,y%281474976710656
local en=I*16+(y-cu)/281474976710656
local a=pack('>I3I4I7BI6',10485760+(m-w)/4294967296,w,N,en,cu)
if f>0 then return bh(a,f)end
return a
end
local function bq(m,y,I)
if I>2 then return m+y end
return m+math.ceil(y/(I==2 and 4 or I==1 and 16 or 64))
end
return cs,dq,bq
`

const counterValue = `local ak,F,bh=s'block-value'
local function cq(a)
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
local function cW(m,M,R,y,ay,f)
local w,cu=m%4294967296,y%281474976710656
local en=ay*16+(y-cu)/281474976710656
local a=pack('>I3I4I7I7BI6',12582912+(m-w)/4294967296,w,M,R,en,cu)
if f>0 then return bh(a,f)end
return a
end
return cq,cW
`

const recordValue = `local es,dr,et=1099511627776,549755813888,4503599627370496
local function cr(a)
local cB,G=a and string.byte(a),a and#a
if not cB or cB<8 or cB>15 or G<13 then return nil end
local bB=cB%2
local aU,Z=cB%4>1,cB>11
local au=aU and'I7'or'I5'
local n,z,A=ag('>I7'..au,a,2)
local cZ='>I4'..au..au
if Z then cZ=cZ..au..au end
local fe=4+(Z and 4 or 2)*(aU and 7 or 5)
if(G-A+1)%fe>0 then return nil end
local H={}
for C=A,G,fe do
local cn,t,an,aj,bU=ag(cZ,a,C)
if not Z then aj,bU=t,0 end
if an>0 then an=n+an-(aU and et or dr)end
H[#H+1]={cn,t,aj,bU,an}
end
return n,n+z,bB,H
end
local function di(n,j,bB,H)
local aU,Z=j-n>=es,false
for F,K in ipairs(H)do
local t,aj,bU,an=K[2],K[3],K[4],K[5]
if aj~=t or bU>0 then Z=true end
if math.max(t,aj,bU)>=es or an~=0 and(an<=n-dr or an>=n+dr)then aU=true end
end
local au=aU and'I7'or'I5'
local cZ='>I4'..au..au
local a=pack('>BI7'..au,8+bB+(aU and 2 or 0)+(Z and 4 or 0),n,j-n)
for F,K in ipairs(H)do
local an=K[5]
if an~=0 then an=an-n+(aU and et or dr)end
a=a..pack(cZ,K[1],K[2],an)
if Z then a=a..pack('>'..au..au,K[3],K[4])end
end
return a
end
return cr,di
`

const drop = `local E,remove,am=...
local F,bg=s'block-value'
return function(b,f)
if f>q then return E(b,bg(f),f)end
if am>0 then return E(b,bg(1),q)end
remove(b)
end
`

const bucketChange = `local S,E,ad=...
local bV,cQ=s'bucket-value'
local X,ao,aE,bn,by=s'bucket-flow'
local aH,aO,ci=s('bucket-leases',X,ao)
local function cb(b,i,l,o,aF,at,fX,el)
local k,f=q,0
local a=S(b)
local g,h,x,r,u,az
if a then
local af,ac,ap
g,h,x,r,af,ac,ap,f,u=bV(a,0)
if f==9000000000000000 then return true end
if g and(af~=i or ac~=l or ap~=o)then
local dO=s('bucket-adopt',X,ao,aE,bn,by,aH,aO)
g,h,x,r,u=dO(g,h,x,r,af,ac,ap,i,l,o,u)
az=true
end
if g and x>q then k=x end
end
if u then
az=az or fX
g,h,u=aO(g,h,i,l,o,u,k)
end
local A,dx,aJ,w=g,h,r,k-aF
if not g then
A,dx,aJ=w,at,0
elseif g<w or(g==w and h<=at)then
A,dx=w,at
if r>0 and k>=x+r then aJ=0 end
end
local aP,z,cK=el(A,dx,k,u)
if not aP then
if not az then return end
if not g then return ad(b,f)end
else
g,h,r=A,dx,aJ
local aw,cm=k+aF,0
if at>0 then aw,cm=aw-1,i-at end
local br=by(i,l,o,k)
if aw>br or(aw==br and cm>0)then aw,cm=br,0 end
if g>aw or(g==aw and h>cm)then aw,cm=g,h end
local ah=h-aP*cK
local v=ah%i
g,h,x=g-aP*z+(ah-v)/i,v,k
if aP<0 and(g>aw or(g==aw and h>cm))then g,h=aw,cm end
if u then g,h=ao(g,h,i,l,o-aH(u),k)end
end
local j=g+aF
if h>at then j=j+1 end
if r>0 and x+r>j then j=x+r end
if u then
j=ci(g,h,x,r,i,l,o,u)
elseif j<=k then
return ad(b,f)
end
if f>j then j=f end
E(b,cQ(g,h,x,r,i,l,o,f,u),j)
end
return cb,X,aE,bn
`

const bucketAdopt = `local X,ao,aE,bn,by,aH,aO=...
local function dO(g,h,x,r,af,ac,ap,i,l,o,u)
local k=q
if x>q then k=x end
if u then
g,h,u=aO(g,h,af,ac,ap,u,k)
end
local eD,dY=X(af,ac,ap,0)
local bk,fu=X(af,ac,ap,h)
local f=g+bk
if fu>0 then f=f+1 end
if r>0 and x+r>f then f=x+r end
if f<=k then return nil end
local dB=eD
if dY>0 then dB=eD+1 end
g,h=ao(g,h,af,ac,ap,k)
local cX=0
if g>k or(g==k and h>0)then
local bZ=ac*1000000
local dn=bZ%af
cX=math.min(9007199256,math.floor((g-k+1)/((bZ-dn)/af+dn/af))+1)
local E,fL=bn(af,ac,cX)
g,h=g-E,h-fL
if h<0 then g,h=g-1,h+af end
end
local bt,H
bt,g,h,H=aE(g,h,af,ac,k)
local K=(k-g)*af-h-H*ac
local am=0
if cX==0 and bt>=o then
bt=o
elseif K>0 then
local da=l%131072
local bA=K*((l-da)/131072)
local cR=(bA%ac)*131072+K*da
am=(bA-bA%ac)/ac*131072+(cR-cR%ac)/ac
end
local z,cK=X(i,l,bt,0)
local dP=cK+am
if r>dB then dB=r end
g,h=k-z-(dP+(-dP)%i)/i,(-dP)%i
if cX>0 then
local fG,fH=bn(i,l,cX)
g,h=g+fG,h+fH
if h>=i then g,h=g+1,h-i end
end
local br=by(i,l,o,k)
if g>br or(g==br and h>0)then g,h=br,0 end
if u then
g,h=ao(g,h,i,l,o-aH(u),k)
end
return g,h,k,dB,u
end
return dO
`

const windowChange = `local S,E,ad=...
local cs,dq,bq=s'window-value'
local cN,cP,dh,dp=s('window-adopt',bq)
return function(b,e,fn)
local ae=d[e+2]
local f=0
local a=S(b)
local m,N,z,I,az
if a then
local bo
m,N,z,I,f=cs(a)
if f==9000000000000000 then return true end
bo=m
if m then m,N,z,I,az=cN(m,N,z,I,e)end
if bo and not m then ad(b,f)end
end
local U,aU,cv,ax=m,z,I,N
if not(m and q<m)then
U,aU,cv=cP(m,z,I,e)
ax=0
end
local al,aC,L
al,aC,L,aU,cv=dh(U,ax,aU,cv,e)
local ai=fn(L,al)
if ai~=0 then
ax,az=aC+L-ai,true
if ai>0 and ax==0 and cv<4 then return ad(b,f)end
m,N,z,I=U,ax,aU,dp(cv,ax,ae)
end
if not az then return end
E(b,dq(m,N,z,I,f),math.max(bq(m,z,I),f))
end
`

const windowAdopt = `local bq=...
local function eC(e,k)
local B=d[e+3]
if d[e+4]==1 then return k+B end
local fd=k-d[e+8]
return fd-fd%B+B+d[e+8]
end
local function cN(m,N,y,I,e)
local B=d[e+3]
if y==B and I<5 then return m,N,y,I,false end
if q>=m then
if q>=bq(m,y,I)then return nil end
return m,N,y,I,false
end
if I==6 then
if B<=y then return m,N,y,I,false end
return m,9007199254740991,B,4,true
end
if y==B then return m,N,y,4,true end
if B<y and I>=4 then return m,N,y,I,false end
local U=eC(e,q)
if B>y and d[e+4]==1 then
U=m-y+B
elseif m>U then
U=m
end
return U,N,math.max(y,B),4,true
end
local function cP(m,y,I,e)
local B,aX=d[e+3],eC(e,q)
if not m or q>=bq(m,y,I)then return aX,B,0 end
if B>y then return math.max(aX,m+y),B,4 end
if B<y and I<5 then return m+y,y,5 end
if d[e+4]~=1 and aX-B<m then aX=aX+B end
return aX,B,0
end
local function dh(m,N,y,I,e)
local ae,B,K=d[e+2],d[e+3],0
if I>=5 and B<y then
K=math.max(0,math.min(math.floor((q-m+y)/B),math.floor(y/B)-1))
end
local al,aC=m-y+K*B,K*ae
local L=math.max(0,N-aC)
if I==6 or I==5 and aC>9007199254740991-2*ae then return al,0,L,m-al,6 end
return al,aC,L,y,I
end
local function dp(I,N,ae)
if I>=4 then return I end
if N*4>ae then return 3 end
return N*16>ae and 2 or N*64>ae and 1 or 0
end
return cN,cP,dh,dp
`

const counterChange = `local S,E,ad=...
local cq,cW=s'counter-value'
local cM,cJ,dl=s'counter-adopt'
return function(b,e,fo)
local B=d[e+3]
local f=0
local a=S(b)
local m,M,R,z,ay,az
if a then
local bo
m,M,R,z,ay,f=cq(a)
if f==9000000000000000 then return true end
bo=m
if m then
m,M,R,z,ay,az=cM(m,M,R,z,ay,e)
end
if bo and not m then ad(b,f)end
end
local aJ=m and q<m
local bj,eO,ed=cJ(m,M,R,B)
if not aJ then z,ay=B,0 end
local cD,df=fo(bj,eO,ed,z,dl(bj,ed,z,e))
if cD~=0 or df~=0 then
m,M,R,az=bj,eO-cD,ed-df,true
if M+R==0 then return ad(b,f)end
end
if not az then return end
local j=m
if M>0 then j=m+z end
E(b,cW(m,M,R,z,ay,f),math.max(j,f))
end
`

const counterAdopt = `local function cJ(m,M,R,B)
if m and q<m then return m,M,R end
if not m or q>=m+B then return q-q%B+B,0,0 end
return m+B,0,M
end
local function cM(m,M,R,y,ay,e)
local B=d[e+3]
if y==B then
if ay==0 or q>=m then return m,M,R,y,ay,false end
return m,M,R,y,0,true
end
if y>B and q<m then return m,M,R,y,ay,false end
m,M,R=cJ(m,M,R,y)
if y>B and ay==0 then
if R==0 then return nil end
return m,M,R,y,1,true
end
m=m-y+B
if q>=m or M+R==0 then return nil end
return m,M,R,B,0,true
end
local function dl(m,R,y,e)
if R==0 then return 0 end
local cG=d[e+4]
if y~=d[e+3]then
cG=1
while y/cG>1000000 do cG=cG*10 end
end
local dF=math.floor(y/cG)
local v=math.min(dF,math.ceil((m-q)/cG))
local bp=math.floor(R/1000000)
local eV=bp*v
local bK=math.floor(eV/dF)
local h=(eV-bK*dF)*1000000+(R-bp*1000000)*v
return bK*1000000+math.ceil(h/dF)
end
return cM,cJ,dl
`

const logChange = `local E,aD,ad=...
local P=s('log-value',E,aD)
local ca,cL,cU=s('log-adopt',P)
local dj,eh=s('log-refund',P,ad,E)
local function cS(b,e,bQ)
local aY=P.aG(b)
if aY.f==9000000000000000 then return true end
local c=ca(aY,e)
if aY.bo and not c.bo then ad(b,c.f)end
local k,C,L=cL(c,e)
if not bQ(c,k,C,L)and c.dW then P.dH(c)end
end
local function cc(c,e,C,k,ab)
P.aB(c,cU(c,e,C,k,ab))
end
return cS,cc,dj,eh,P
`

const logValue = `local E,aD=...
local ak=s'block-value'
local aZ,aR,bM,bN=47,14,64,4503599627370496
local function eM(b,f)
return{b=b,G=0,as=0,aC=0,n=0,ah=0,y=0,r=0,f=f,aY=0,dt=true}
end
local function fF(b)
local O,c=KEYS[b],eM(b,0)
local a=redis.pcall('GETRANGE',O,0,aZ+bM*aR-1)
if type(a)~='string'then return c end
local B=#a
if B==aZ+bM*aR then B=call('STRLEN',O)end
if B<aZ or string.byte(a)~=2 or(B-aZ)%aR>0 then
local f,J=ak(a)
if J==''then c.f=f end
return c
end
local F,f,y,r,aC,n,ah,as=ag('>BI7I7I7I7I7I7I4',a)
local aY=(B-aZ)/aR
if as>aY or y<1 then return c end
c.bo,c.dt,c.aY,c.G=true,false,aY,aY+1
c.f,c.y,c.r,c.aC,c.n,c.ah,c.as=f,y,r,aC,n,ah,as
c.ef={[0]=string.sub(a,aZ+1)}
return c
end
local function aS(c,p)
if p==c.G-1 then return c.n,c.ah end
if p==c.aY then return c.eR,c.eS end
local eP=p%bM
local au=(p-eP)/bM
local dD=c.ef[au]
if not dD then
local A=aZ+au*bM*aR
dD=call('GETRANGE',KEYS[c.b],A,A+bM*aR-1)
c.ef[au]=dD
end
local n,ah=ag('>I7I7',dD,eP*aR+1)
return n,ah
end
local function aL(c,p)
if p<c.as then return 0 end
local F,ah=aS(c,p)
return(ah-c.aC)%bN
end
local function bR(c,fA,A)
local w,D=A,c.G
while w<D do
local cl=math.floor((w+D)/2)
if aS(c,cl)>fA then D=cl else w=cl+1 end
end
return w
end
local function cY(c,ah,A)
local w,D=A,c.G
while w<D do
local cl=math.floor((w+D)/2)
if aL(c,cl)>=ah then D=cl else w=cl+1 end
end
return w
end
local function cc(c,aB)
local A=aB.A
c.dW,c.bo,c.y,c.r=true,true,aB.y,aB.r
if A==c.G then
c.dt,c.aY,c.G,c.as,c.aC,c.n,c.ah=true,0,1,0,0,aB.k,aB.ab
return
end
if A>c.as then
local F,aC=aS(c,A-1)
c.aC,c.as=aC,A
end
if not aB.cC then
c.eR,c.eS,c.G=c.n,c.ah,c.G+1
end
c.n,c.ah=aB.k,(c.ah+aB.ab)%bN
end
local function eK(c,as)
return pack('>BI7I7I7I7I7I7I4',2,c.f,c.y,c.r,c.aC,c.n,c.ah,as)
end
local function eJ(c)
local j=c.n+c.y
if c.r>c.y then j=c.n+c.r end
if c.f>j then j=c.f end
return j
end
local function fP(c)
local j=eJ(c)
local Z=c.G-1>c.aY
local ba=''
if Z and c.as<=c.aY then ba=pack('>I7I7',c.eR,c.eS)end
local as=c.as
local bK=c.dt or c.aY<=bM or as>c.G-as
if bK then as=0 end
local Q=eK(c,as)
if bK then
local bP=''
if not c.dt then
if c.aY<=bM then
bP=string.sub(c.ef[0],c.as*aR+1)
else
bP=call('GETRANGE',KEYS[c.b],aZ+c.as*aR,-1)
end
end
return E(c.b,Q..bP..ba,j)
end
call('SETRANGE',KEYS[c.b],0,Q)
if Z then call('APPEND',KEYS[c.b],ba)end
aD(c.b,j)
end
return{
aZ=aZ,
aR=aR,
bN=bN,
fE=eM,
aG=fF,
aS=aS,
aL=aL,
bR=bR,
cY=cY,
aB=cc,
Q=eK,
j=eJ,
dH=fP,
}
`

const logAdopt = `local P=...
local bR,aL=P.bR,P.aL
local fh=10000
local function ca(c,e)
local B=d[e+3]
if not c.bo or c.y==B then return c end
local r=c.y
if c.r>r then r=c.r end
if c.n+r<=q then
return P.fE(c.b,c.f)
end
c.y,c.dW=B,true
if r>B then c.r=r else c.r=0 end
return c
end
local function cL(c,e)
local k=q
if c.n>q then k=c.n end
local C=bR(c,k-d[e+3],c.as)
return k,C,aL(c,c.G-1)-aL(c,C-1)
end
local function cU(c,e,C,k,ab)
local A,r,aw=C,c.r,d[e+4]
if r>0 then A,aw=bR(c,k-r,c.as),fh end
local aJ=c.G-A
local cC=aJ>0 and c.n==k
if not cC and aJ>=aw then
if A<C then A=A+1 else cC=true end
end
if aJ==0 then r=0 end
return{A=A,k=k,cC=cC,ab=ab,y=d[e+3],r=r}
end
return ca,cL,cU
`

const logRefund = `local P,ad,E=...
local aS,aL,aZ,aR,bN=P.aS,P.aL,P.aZ,P.aR,P.bN
local function fb(c,al,ax)
local bX,ah={},(c.aC+aL(c,al-1))%bN
for p=al,c.G-1 do
local h=aL(c,p)-aL(c,p-1)-(ax[p]or 0)
if h>0 then
ah=(ah+h)%bN
bX[#bX+1]={(aS(c,p)),ah}
end
end
local bC=al
if#bX==0 then
if al==c.as then return ad(c.b,c.f)end
bC=al-1
c.n,c.ah=aS(c,bC)
else
c.n,c.ah=unpack(bX[#bX])
end
local bP=''
if bC>c.as then bP=call('GETRANGE',KEYS[c.b],aZ+c.as*aR,aZ+bC*aR-1)end
for p=1,#bX-1 do bP=bP..pack('>I7I7',bX[p][1],bX[p][2])end
E(c.b,P.Q(c,0)..bP,P.j(c))
end
local function fN(c,C,bc,ai,bf)
local v,al,ax=ai,c.G,{}
local function dK(p)
local K=aL(c,p)-aL(c,p-1)
if K>v then K=v end
ax[p],v=K,v-K
end
if bf<0 then
while al>C and v>0 do
al=al-1
dK(al)
end
elseif bf>bc then
al=P.bR(c,bf-1,C)
for p=al,c.G-1 do dK(p)end
end
if v<ai then fb(c,al,ax)end
return ai-v
end
return fN,fb
`

const bucketDescriptor = `local i,l,o=d[e+1],d[e+2],d[e+3]
local aF,at,ab,cy=d[e+4],d[e+5],d[e+6],d[e+7]
if d[e]==0 then
local H=aF*l
cy=H%i
ab=(H-cy)/i
H=o*l
at=-H%i
aF=(H+at)/i
end
`

const bucket = `local S,a=s'bucket-value'
local X,ao,aE,bn,by=s'bucket-flow'
local aH,aO,j=s('bucket-leases',X,ao)
local cw=s('bucket-adopt',X,ao,aE,bn,by,aH,aO)
return{
S=S,
a=a,
X=X,
ao=ao,
aE=aE,
by=by,
aH=aH,
aO=aO,
j=j,
cw=cw,
}
`

const bucketStep = `local k,f,T=q,0,0
local g,h,x,r,u,az,bL,j
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
local dk=af==i and ac==l and ap==o
if dk and D>=6291456 and D<10485504 and h<i then
g=(D-8388608)*4294967296+w
x=g+V
else
bs=bs or ek(q,pack,ag)
g,h,x,r,af,ac,ap,f,u=bs.S(a,0)
end
if g then
if af~=i or ac~=l or ap~=o then
g,h,x,r,u=bs.cw(g,h,x,r,af,ac,ap,i,l,o,u)
az=g
end
if g and x>q then k=x end
if u then
g,h,u=bs.aO(g,h,i,l,o,u,k)
end
end
end
local bc=k-aF
if not g then
g,h,r=bc,at,0
elseif g<bc or(g==bc and h<=at)then
g,h=bc,at
if r>0 and k>=x+r then r=0 end
end
local aG,br=aQ,k
if f>q then aG=0 end
if bC and dQ<=o-(u and bs.aH(u)or 0)then br=k+bC end
while T<aG do
local dd,v=g+ab,h+cy
if v>=i then dd,v=dd+1,v-i end
if dd>br or(dd==br and v>0)then break end
g,h,T=dd,v,T+1
end
if T>0 or az then
j=g+aF
if h>at then j=j+1 end
local V,w=k-g,g%4294967296
if r>0 or f>0 or u or V<0 or V>=1099511627776 or i>=16777216 or o>=1099511627776 then
bs=bs or ek(q,pack,ag)
bL=bs.a(g,h,k,r,i,l,o,f,u)
if u then
j=bs.j(g,h,k,r,i,l,o,u)
elseif r>0 and k+r>j then
j=k+r
end
if f>j then j=f end
elseif l==1 and h==0 and V<16777216 and i<256 and o<256000000 and o%1000000==0 then
bL=pack('>I3I4I3BB',8388608+(g-w)/4294967296,w,V,i,o/1000000)
else
bL=pack('>I3I4I3I5I3I5I5',8388608+(g-w)/4294967296,w,h,V,i,l,o)
end
end
`

const reply = `local er,aI=0,#KEYS
local aT={}
for b=1,aI do
aq[b]=aq[b]or''
aT[b]=#aq[b]
end
for K=1,#ce do aT[aI+K]=ce[K]end
for p=1,#aT do
if aT[p]>er then er=aT[p]end
end
local Q
if er<256 and#aT<=2000 then
Q=string.char(1,unpack(aT))
else
for p=1,#aT do aT[p]=pack('>I4',aT[p])end
Q=string.char(4)..table.concat(aT)
end
for p=1,#aW do aW[p]=pack('>I7',aW[p])end
return Q..table.concat(aq,'',1,aI)..table.concat(aW)..pack('>I7',q)
`

const window = `local cs,dq,bq=s'window-value'
local cN,cP,dh,dp=s('window-adopt',bq)
return function(a,e,aQ)
local ab,ae,eX=d[e+1],d[e+2],d[e+5]
local f,T=0,0
local m,N,z,I,az
if a then
m,N,z,I,f=cs(a)
if m then m,N,z,I,az=cN(m,N,z,I,e)end
end
if not(m and q<m)then
m,z,I=cP(m,z,I,e)
N=0
end
local al,aC,L,aU,cv=dh(m,N,z,I,e)
local dw,aw=q-al,ae
if eX>0 and dw<eX then
if dw<0 then dw=0 end
local dy=math.floor(dw*d[e+6]/d[e+7])
if dy<1000000 then dy=1000000 end
if dy<aw then aw=dy end
end
if f>q then aQ=0 end
while T<aQ and L+ab<=aw do
L,T=L+ab,T+1
end
if T>0 then
N,z=aC+L,aU
I=dp(cv,N,ae)
elseif not az then
return 0
end
local j=bq(m,z,I)
if f>j then j=f end
return T,dq(m,N,z,I,f),j
end
`

const counter = `local cq,cW=s'counter-value'
local cM,cJ,dl=s'counter-adopt'
return function(a,e,aQ)
local ab,ae,B=d[e+1],d[e+2],d[e+3]
local f,T,R,z,ay=0,0,0,B,0
local m,M,az
if a then
m,M,R,z,ay,f=cq(a)
if m then
m,M,R,z,ay,az=cM(m,M,R,z,ay,e)
end
end
if not(m and q<m)then
m,M,R=cJ(m,M,R,B)
z,ay=B,0
end
local ar=ae-dl(m,R,z,e)
if f>q then aQ=0 end
while T<aQ and M+ab<=ar do
M,T=M+ab,T+1
end
if T==0 and not az then return 0 end
local j=m
if M>0 then j=m+z end
if f>j then j=f end
return T,cW(m,M,R,z,ay,f),j
end
`

const record = `local cr,di=s'record-value'
local ak=s'block-value'
return function(a,e,aQ,F,bF)
local F,f=cr(a)
if aQ==0 or f and q<f+60000000 then return 0 end
if a and ak(a)>q then return 0 end
local N,H=d[e+3],{}
for p=1,N do
local cn,t=d[e+2+2*p],d[e+3+2*p]
H[p]={cn,t,t,0,bF and bF[#bF-N+p]or 0}
end
local j=q+d[e+1]
return 1,di(q,j,d[e+2],H),j+60000000
end
`

const slots = `local ak,bg,bh=s'block-value'
local dN=4000
local function cp(a,A)
local D,w=ag('>I3I4',a,A)
return(D-2097152)*4294967296+w
end
local function bl(au)
local w=au%4294967296
return pack('>I3I4',2097152+(au-w)/4294967296,w)
end
local function eg(a)
local f,J=0,a or''
if a then f,J=ak(a)end
local G=#J
if string.byte(J)~=3 or G%35~=22 then
return nil,nil,'',0,q,J==''and f or 0
end
local x,U=cp(J,9),cp(J,16)
local k,A=q,23
if x>q then k=x end
while A<G and cp(J,A+21)<=k do A=A+35 end
local L=0
for bS=A,G,35 do L=L+cp(J,bS+14)end
return x,U,string.sub(J,A),L,k,f
end
local function ea(t,dc)
local A=string.find(t,dc,1,true)
while A and A%35~=1 do A=string.find(t,dc,A+1,true)end
return A
end
local function ba(t,bS,f)
local A=#t+1
while A>1 and cp(t,A-14)>f do A=A-35 end
return string.sub(t,1,A-1)..bS..string.sub(t,A)
end
local function ej(k,U,t,f)
local j=U+1
if t~=''then j=math.max(j,cp(t,#t-13))end
local a='\\3'..pack('>I7',j)..bl(k)..bl(U)..t
if f>0 then a=bh(a,f)end
return a,math.max(j,f),j
end
local function dK(a,e,aQ,bO)
local ab,ae=(bO or 0)+d[e+1],d[e+2]
local T,bL,j=0,nil,nil
while T<aQ do
local x,U,t,L,k,f=eg(a)
if f>q or ab>ae then break end
local dc=bl(d[e+5])..bl(d[e+6])
if d[e+4]==0 or not ea(t,dc)then
if L+ab>ae or#t>=dN*35 then break end
U=x and math.max(k,U+1)or k
local m=k+d[e+3]
t=ba(t,dc..bl(ab)..bl(m)..bl(U),m)
a,j=ej(k,U,t,f)
bL=a
end
T=T+1
end
return T,bL,j
end
local function ct(a,bA,dg)
local x,U,t,F,k,f=eg(a)
local A=x and ea(t,bl(bA)..bl(dg))
if not A then return nil end
t=string.sub(t,1,A-1)..string.sub(t,A+35)
local v,j,bz=ej(k,U,t,f)
if bz<=k then return false,f end
return v,j
end
local function dE(a,bA,dg,aV)
local x,U,t,F,k,f=eg(a)
local A=x and ea(t,bl(bA)..bl(dg))
if not A or k+aV<=cp(t,A+21)then return nil end
local bS=string.sub(t,A,A+20)..bl(k+aV)..string.sub(t,A+28,A+34)
t=ba(string.sub(t,1,A-1)..string.sub(t,A+35),bS,k+aV)
return ej(k,U,t,f)
end
return dK,ct,dE
`

const log = `local P=...
local aS,aL,cY=P.aS,P.aL,P.cY
local ca,cL,cU=s('log-adopt',P)
local function eB(c,e,C,U,de,L,ab)
local p=cY(c,aL(c,C-1)+L+ab-d[e+2],C)
if p<U then de=aS(c,p)end
return de+d[e+3]
end
local function dL(c,e,C,U,de,L)
local ae=d[e+2]
local cH,cI=0,0
if ae>L then cH=math.floor((ae-L)/1000000)end
if L>0 then cI=de+d[e+3]-q end
local Z=(cH+1)*1000000
if Z>ae then return cH,cI,cI end
return cH,eB(c,e,C,U,de,L,Z)-q,cI
end
local function dT(c,e,ab)
local ae=d[e+2]
local k,C,L=cL(c,e)
if ab>ae-L then
if ab>ae then return 2,0,dL(c,e,C,c.G,c.n,L)end
return 1,eB(c,e,C,c.G,k,L,ab)-q,dL(c,e,C,c.G,c.n,L)
end
local aB=cU(c,e,C,k,ab)
local U=c.G
if aB.cC then U=U-1 end
local cH,fO,cI=dL(c,e,C,U,k,L+ab)
return 0,0,cH,fO,cI,aB
end
local function eq(c,e)
local F,C,L=cL(c,e)
return dL(c,e,C,c.G,c.n,L)
end
return ca,dT,eq
`

const holdChange = `local du=...
local S,E,aD,remove,am=s'state'
local ad=s('drop',E,remove,am)
local ak=s'block-value'
local cr,di=s'record-value'
local ds=9000000000000000
local cb,X,aE,bn
local ct,dE
local function fT(g,h,k,u,i,l,o,t,aa,an)
if aa>t then
local ar=0
if g<k or(g==k and h==0)then
ar=o+aE(g,h,i,l,k)
else
local z,v=X(i,l,o,0)
z,v=g-z,h-v
if v<0 then z,v=z-1,v+i end
ar=aE(z,v,i,l,k)
end
local Z=math.min(aa-t,ar)
if Z<=0 then return t end
local z,v=X(i,l,Z,0)
return t+Z,-1,z,v
end
local eG,eH=g,h
if g<k then eG,eH=k,0 end
local ar,v=X(i,l,o,0)
ar,v=ar-(eG-an),v-eH
if v<0 then ar,v=ar-1,v+i end
if aa==t or ar<0 or(ar==0 and v==0)then return aa end
local H=(t-aa)%1000000
local bv,cO=bn(i,l,(t-aa-H)/1000000)
local Z
Z,cO=X(i,l,H,cO)
bv=bv+Z
if bv<ar or(bv==ar and cO<=v)then
if t-aa>2*o then bv,cO=X(i,l,2*o,0)end
return aa,1,bv,cO
end
if u then
local bK
if v>0 then bK=aE(0,i-v,i,l,ar+1)else bK=aE(0,0,i,l,ar)end
ar,v=X(i,l,bK,0)
end
return aa,1,ar,v
end
local function dI(b,e,t,aa,an)
if not cb then cb,X,aE,bn=s('bucket-change',S,E,ad)end
local i,l,o,aF,at=du(e)
local aj
local function el(g,h,k,u)
local aP,z,cK
aj,aP,z,cK=fT(g,h,k,u,i,l,o,t,aa,an)
return aP,z,cK
end
cb(b,i,l,o,aF,at,true,el)
return aj
end
local function fU(b,e,t,aa,F,n)
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
local function fQ(b,e,t,aa,F,n)
local aj
s('counter-change',S,E,ad)(b,e,function(bj,M,R,z,ei)
local eF=n>=bj-z
local eb=not eF and n>=bj-2*z
local ai
if aa<t then
ai=math.min(t-aa,eF and M or eb and R or 0)
else
local ae=d[e+2]
local ar=2*ae-M-ei
if eb then ar=math.min(ar,2*ae-R)end
ai=-math.max(0,math.min(aa-t,ar))
end
aj=t-ai
if eb then return 0,ai end
return ai,0
end)
return aj
end
local function fR(b,e,t,aa,F,n)
local cS,cc,dj,eh,P=s('log-change',E,aD,ad)
local aj
cS(b,e,function(c,k,C,L)
aj=t
local bc=k-d[e+3]
if aa<t then
local ax=dj(c,C,bc,t-aa,n)
aj=t-ax
return ax>0
end
local Z=math.min(aa-t,2*d[e+2]-L)
if Z<=0 then return end
aj=t+Z
local p=P.bR(c,n-1,C)
if n<=bc or p==c.G then return cc(c,e,C,k,Z)end
eh(c,p,{[p]=-Z})
return true
end)
return aj
end
local function ey(b,fr,...)
local a=S(b)
if a and ak(a)==ds then return true end
local v,j=fr(a,...)
if v then E(b,v,j)elseif v==false then ad(b,j)end
end
local aM={[0]=dI,fU,fQ,fR,dI}
local function fB(b,e)
if d[e]==3 then
local F,F,F,F,P=s('log-change',E,aD,ad)
return P.aG(b).f==ds
end
local a=S(b)
return a and ak(a)==ds
end
local function ex(K,C,Y)
for call=1,Y do
if d[C+3*call-3]==K[1]then return C+3*call-3,call end
end
end
local function fS(O,C,Y,H,n,fY)
for F,K in ipairs(H)do
local p,call=ex(K,C,Y)
if p then
local e,aa=d[p+1],d[p+2]
if d[e]==7 then
if ey(O+call,ct,d[C-2],d[C-1])then return true end
K[3]=0
elseif not fY then
local aj=aM[d[e]](O+call,e,K[2],aa,K[5],n)
if not aj then return true end
K[3],K[4]=aj,math.max(0,aa-aj)
end
end
end
end
local function fJ(O,C,Y,H,aV)
for call=1,Y do
local cn,e=d[C+3*call-3],d[C+3*call-2]
for F,K in ipairs(H)do
if K[1]==cn and d[e]==7 then
if ey(O+call,dE,d[C-2],d[C-1],aV)then return true end
break
end
end
end
end
local function fy(O,C,Y)
if Y<2 then return false end
for call=1,Y do
if fB(O+call,d[C+3*call-2])then return true end
end
end
return function(O,bm,C,Y)
local a=S(O)
if a and ak(a)==ds then return 5,0,{}end
local n,j,bB,H=cr(a)
if not n or q>=j+60000000 then return 0,0,{}end
if bB==1 then return 4,j,H end
if q>=j then
for F,K in ipairs(H)do
local p=ex(K,C,Y)
if bm==-1 and p then K[4]=math.max(0,d[p+2]-K[3])end
end
return 3,j,H
end
if fy(O,C,Y)then return 5,0,{}end
if not ct then
local F
F,ct,dE=s'slots'
end
local dJ=2
if bm<0 then
if fS(O,C,Y,H,n,bm==-2)then return 5,0,{}end
bB=1
else
if fJ(O,C,Y,H,bm)then return 5,0,{}end
dJ,j=1,math.max(j,q+bm)
end
E(O,di(n,j,bB,H),j+60000000)
return dJ,j,H
end
`

export const adjustProgram: Program = {
  sha1: 'd1e0191a59ac9170dd3dbb7c657fd18e3e6257f2',
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
local S,E,aD,remove,am=s'state'
local ad=s('drop',E,remove,am)
local function ev(b,e,aP)
local cb=s('bucket-change',S,E,ad)
`,
      bucketDescriptor,
      `return cb(b,i,l,o,aF,at,false,function(F,F,k)
if aP>0 and bf>=0 and bf<=k-aF then return nil end
return aP,ab,cy
end)
end
local function fm(b,e,aP)
local ai,ae=d[e+1],d[e+2]
return s('window-change',S,E,ad)(b,e,function(L,al)
if aP<0 then return-math.max(0,math.min(2*ae-L,ai))end
if bf>=0 and bf<al then return 0 end
return math.min(ai,L)
end)
end
local function fj(b,e,aP)
local ai,ae=d[e+1],d[e+2]
return s('counter-change',S,E,ad)(b,e,function(bj,M,R,z,ei)
if aP<0 then return-math.max(0,math.min(2*ae-M-ei,ai)),0 end
if bf>=0 and bf<bj-2*z then return 0,0 end
local al=bj-z
local cD,df=math.min(M,ai),0
if bf>=0 and bf<al then cD=0 end
if bf<al then df=math.min(R,ai-cD)end
return cD,df
end)
end
local function fk(b,e,aP)
local cS,cc,dj=s('log-change',E,aD,ad)
local ai=d[e+1]
return cS(b,e,function(c,k,C,L)
if aP>0 then return dj(c,C,k-d[e+3],ai,bf)>0 end
local ba=math.min(ai,2*d[e+2]-L)
if ba>0 then cc(c,e,C,k,ba)end
end)
end
local function fl(b)
local ak=s'block-value'
local a=S(b)
return a and ak(a)==9000000000000000
end
local aM={[0]=ev,fm,fj,fk,ev,[7]=fl}
local bu={}
for p=1,d[3]do
local e=d[2+2*p]
if aM[d[e]](p,e,d[3+2*p])then bu[#bu+1]=p end
end
return bu
`,
    ].join(''),
}

export const blockProgram: Program = {
  sha1: '8be5675da4bc8cff1710e8464c95b8b62774c28e',
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
local S,E,aD,remove,F,ck=s'state'
local ak,bg=s'block-value'
local em=s'state-until'
local function ga(a)
local bV,cQ=s'bucket-value'
local X,ao=s'bucket-flow'
local aH,aO,ci=s('bucket-leases',X,ao)
local g,h,x,r,i,l,o,F,u=bV(a,0)
if not u then return nil,''end
local k=q
if x>q then k=x end
g,h,u=aO(g,h,i,l,o,u,k)
if not u then return nil,''end
g,h=ao(-math.huge,0,i,l,o-aH(u),k)
a=cQ(g,h,k,r,i,l,o,0,u)
return ci(g,h,k,r,i,l,o,u),a
end
local B=d[2]
local bu={}
local function fq(b)
local P=s('log-value',E,aD)
local c=P.aG(b)
if B<0 or not c.bo then return c.f,''end
c.f=0
if B>0 then c.f=q+B end
call('SETRANGE',KEYS[b],0,P.Q(c,c.as))
aD(b,P.j(c))
end
for b=1,#KEYS do
local aK,a=ck and ck(b),nil
if aK then a=S(b)else a=redis.pcall('GETRANGE',KEYS[b],0,2047)end
if type(a)~='string'then a=''end
if#a==2048 and string.byte(a)~=2 then a=call('GET',KEYS[b])end
local f,J,j=0,a,nil
if string.byte(a)==2 then
f,J=fq(b)
elseif a~=''then
f,J=ak(a)
j=em(a)
if f==9000000000000000 then
f=0
if B>=0 then bu[#bu+1],J=b,nil end
elseif not j and J~=''then
f,J=0,''
end
end
if J then
if B<0 then
j,J=ga(J)
elseif B>0 then
f=q+B
else
f=0
end
if f>0 then
if J~=''then
E(b,bg(f)..J,math.max(f,j))
elseif f>q then
E(b,bg(f),f)
elseif aK then
call('HSET',KEYS[b],aK,bg(f))
else
call('SET',KEYS[b],bg(f),'KEEPTTL')
end
elseif J~=''then
E(b,J,j)
elseif a~=''or B<0 then
remove(b)
end
end
end
return bu
`,
    ].join(''),
}

export const bucketsProgram: Program = {
  sha1: '7e941f9fce54d4a548474b0a6a93366e36f46bd2',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,ag,format=struct.pack,struct.unpack,string.format
local bE=call('TIME')
local q=bE[1]*1000000+bE[2]
local bs
local function ek(q,pack,ag)
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
local cy=H%i
local ab=(H-cy)/i
H=o*l
local at=-H%i
local aF=(H+at)/i
local aI,fs,am=#KEYS,#ARGV>5,ARGV[5]+0
local aq={}
if aI==1 then
aq=call('MGET',KEYS[1])
elseif aI>1 then
aq=call('MGET',unpack(KEYS))
end
local ce,aW,aQ={},{},1
local bC,dQ
for b=1,aI do
local a=aq[b]
if fs then aQ=ARGV[5+b]+0 end
`,
      bucketStep,
      `if bL then call('SET',KEYS[b],bL,'PXAT',format('%d',(j+am)/1000+1))end
ce[b]=T
end
`,
      reply,
    ].join(''),
}

export const cellsProgram: Program = {
  sha1: 'b269e12bf2e29c377cf794af2721d4df723b45cc',
  source: () =>
    [
      ``,
      clock,
      `local bT=call('INFO','server')..call('INFO','replication')
local bI=string.match(bT,'run_id:(%x+)')..'-'..string.match(bT,'master_replid:(%x+)')
local cg=call('ZRANGEBYSCORE',KEYS[3],'('..string.format('%.0f',d[2]),'+inf','LIMIT',0,d[3])
local av={bI,q,call('GET',KEYS[1]),(call('GET',KEYS[2])or 0)+0,#cg<d[3]and 1 or 0,call('ZCARD',KEYS[3])}
for p=1,#cg do av[6+p]=call('GET',cg[p])end
return av
`,
    ].join(''),
}

export const consumeProgram: Program = {
  sha1: 'd3bbb54caa6cc85a2187311010c200518317263f',
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
local aM,P={},nil
local function dz(dm)
if dm==1 then
aM[1]=s'window'
elseif dm==2 then
aM[2]=s'counter'
elseif dm==6 then
aM[6]=s'record'
elseif dm==7 then
aM[7]=s'slots'
else
local bs
local function ek()
return s'bucket'
end
local function bi(a,e,aQ,bO)
`,
      bucketDescriptor,
      `local bC,dQ
if d[e]==5 then
bC,dQ=d[e+8],d[e+9]+(bO or 0)
end
`,
      bucketStep,
      `return T,bL,j,g
end
aM[0],aM[4],aM[5]=bi,bi,bi
end
return aM[dm]
end
local bG=d[3]
local S,E,aD
if ARGV[2]or bY~=0 or bG<#KEYS or bG>4000 then S,E,aD=s'state'end
local aq={}
if ARGV[2]and ARGV[2]~=''then
for b=1,bG do aq[b]=S(b)end
elseif bG>0 then
aq=call('MGET',unpack(KEYS,1,math.min(bG,4000)))
for b=4001,bG do aq[b]=S(b)end
end
local bk,j={},{}
local bJ,G={},0
local cV,dR={},d[2]%2
for p=5+d[4]-(d[2]-dR)/2,4+d[4]do cV[d[p]]=true end
local ce={}
local function eu(n,Y,Q,x)
for p=n,n+2*Y-2,2 do
local b,e=d[p],d[p+1]
if d[e]==3 then
bJ[Q+3],bJ[Q+4],bJ[Q+5]=P.fZ(x[b],e)
Q=Q+5
end
end
end
local aT={}
local function fz(e)
local aV,t=d[e+1],d[e+5]
local cu=d[e+3]==1 and aV<1099511627776 and t<1099511627776
aT[e]=cu and pack('>BI7I5I4I5',8+d[e+2],q,aV,d[e+4],t)
return aT[e]
end
local function fM(b,e,aN,cF)
local Q=aT[cF]
if Q==nil then Q=fz(cF)end
if not Q or bk[aN]or aq[aN]or cV[b]or cV[aN]then return end
local T,a,bz,an=(aM[d[e]]or dz(d[e]))(bk[b]or aq[b],e,1)
if T==0 then return end
local dv=(an or 0)~=0 and an-q+549755813888 or 0
if dv<0 or dv>=1099511627776 or(dv==0 and(an or 0)~=0)then return end
bk[b],j[b]=a,bz
bk[aN],j[aN]=Q..pack('>I5',dv),q+d[cF+1]+60000000
return 1
end
local fi={[0]=true,true,true,[4]=true}
local function fx(n,Y)
if Y==2 and d[d[n+3]]==6 and fi[d[d[n+1]]]then
local T=fM(d[n],d[n+1],d[n+2],d[n+3])
if T then return T end
end
local aG=true
local aI,f,x,ax,ez,bF={},{},{},{},{},{}
local Q=G
for p=n,n+2*Y-2,2 do
local b,e=d[p],d[p+1]
if d[e]==3 then
if not x[b]then x[b]=P.cw(P.eQ(b),e)end
local c,ab=x[b],(ax[b]or 0)+d[e+1]
ax[b]=ab
local ee
ee,bJ[G+2],bJ[G+3],bJ[G+4],bJ[G+5],ez[b]=
P.ft(c,e,ab)
bJ[G+1]=ee
G=G+5
bF[#bF+1]=0
if ee>0 or c.f>q then aG=false end
elseif aG then
local bO=d[e]~=7 and aI[b]or bk[b]or aq[b]
local T,a,bz,an=
(aM[d[e]]or dz(d[e]))(bO,e,1,ax[b],bF)
bF[#bF+1]=an or 0
if T==0 then aG=false else aI[b],f[b]=a,bz end
if d[e]==5 then ax[b]=(ax[b]or 0)+d[e+9]end
if d[e]==7 then ax[b]=(ax[b]or 0)+d[e+1]end
end
end
if aG then
for p=n,n+2*Y-2,2 do
if cV[d[p]]and not aq[d[p]]then return 0 end
end
if dR==0 then eu(n,Y,Q,x)end
for b,a in pairs(aI)do bk[b],j[b]=a,f[b]end
for b,aB in pairs(ez)do P.aB(b,x[b],aB)end
return 1
end
eu(n,Y,Q,x)
for p=n,n+2*Y-2,2 do
local b,e=d[p],d[p+1]
if d[e]~=3 then
local F,a,bz=(aM[d[e]]or dz(d[e]))(bk[b]or aq[b],e,0)
if a then bk[b],j[b]=a,bz end
end
end
return 0
end
if bG<#KEYS then
local bD,aG=s('log-value',E,aD),{}
local ca,dT,eq=s('log',bD)
P={
eQ=function(b)
if not aG[b]then aG[b]=bD.aG(b)end
return aG[b]
end,
cw=ca,
ft=dT,
fZ=eq,
aB=function(b,c,aB)
aG[b]=c
bD.aB(c,aB)
end,
dH=function()
for F,c in pairs(aG)do
if c.dW then bD.dH(c)end
end
end,
}
for b=bG+1,#KEYS do
local c=P.eQ(b)
aq[b]=(c.bo or c.f>0)and c.f
end
end
local n,U=5+d[4],#d
while n<=U do
local Y=d[n]
local C,eA,e,aQ=1,1,0,1
if Y==0 then e,C,eA,aQ=d[n+1],d[n+2],d[n+3],d[n+4]end
for b=C,eA do
local T,a,bz
if Y==0 then
T,a,bz=(aM[d[e]]or dz(d[e]))(bk[b]or aq[b],e,aQ)
if cV[b]and not aq[b]then
T=0
elseif a then
bk[b],j[b]=a,bz
end
else
T=fx(n+1,Y)
end
ce[#ce+1]=T
end
n=n+5
if Y>0 then n=n-4+2*Y end
end
if dR==1 then
local U,ff
for b,a in pairs(bk)do
if E then
E(b,a,j[b])
else
if j[b]~=U then U,ff=j[b],string.format('%d',j[b]/1000+1)end
call('SET',KEYS[b],a,'PXAT',ff)
end
end
if P then P.dH()end
end
for b=bG+1,#KEYS do aq[b]=aq[b]and pack('>I7',aq[b])end
local aW=bJ
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
  sha1: 'b933725c783a95026889c4f24923479bd282717f',
  source: () =>
    [
      `do
local call,KEYS,ARGV=redis.call,KEYS,ARGV
local ag=struct.unpack
local bb=cjson.decode(ARGV[#ARGV])
ARGV[#ARGV]=nil
local cx=(#bb-5)/6
local dG=#KEYS-cx
if bb[1]==1 then
local bT=call('INFO','server')..call('INFO','replication')
local bI=string.match(bT,'run_id:(%x+)')..'-'..string.match(bT,'master_replid:(%x+)')
local aN=call('GET',KEYS[dG])
if aN and string.match(aN,'^%S+')~=bI then call('DEL',KEYS[dG])end
if bI~=bb[2]then return{0}end
end
local cg={}
for bx=0,cx do cg[bx+1]=KEYS[dG+bx]end
for bx=1,cx do cg[cx+1+bx]=KEYS[bb[6*bx]]end
local av=call('MGET',unpack(cg))
local aN=av[1]
if not aN or string.sub(aN,1,#bb[3])~=bb[3]then return{0}end
local bW={}
for bx=1,cx do
local n=6*bx
local bH,a=av[1+bx],av[cx+1+bx]
local ch=bb[n+1]==(bH and tonumber(string.match(bH,'^%d+'))or 0)
if ch and bb[n+2]>0 then
if a and string.byte(a)and string.byte(a)>=224 then a=string.sub(a,8)end
local G=a and#a or 0
if G==0 then
local q=bb[5]
if q==0 then
local bE=call('TIME')
q=bE[1]*1000000+bE[2]
end
ch=q>=bb[n+5]
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
ch=D and x>=bb[4]and i==bb[n+2]and l==bb[n+3]and o==bb[n+4]
end
end
if not ch then bW[#bW+1]=bx end
end
if#bW>0 then return bW end
for O=#KEYS,dG,-1 do KEYS[O]=nil end
end
`,
    ].join(''),
}

export const holdsProgram: Program = {
  sha1: 'a11b80c751f6c72f2b5d86171b1aaa2b618cddd9',
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
local bw,E
if not ARGV[2]and#KEYS<=4000 then
bw={}
local aq=call('MGET',unpack(KEYS))
for b=1,#KEYS do bw[KEYS[b]]=aq[b]end
if bY~=0 then
local F
F,E=s'state'
end
end
local function dM(b,a,j)
bw[KEYS[b]]=a
if E then return E(b,a,j)end
call('SET',KEYS[b],a,'PXAT',string.format('%d',j/1000+1))
end
local function du(e)
`,
      bucketDescriptor,
      `return i,l,o,aF,at
end
local function dI(b,e,t,aa,an)
local i,l,o,aF,at=du(e)
local bc,Z=q-aF,(aa-t)*l
if aF>1000000000000000 or Z>o*l or-Z>o*l then return end
local a,g,h=bw[KEYS[b]],bc,at
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
local j=g+aF
if h>at then j=j+1 end
if j<=q then
bw[KEYS[b]]=false
call('DEL',KEYS[b])
return true
end
if V<0 or V>=1099511627776 or i>=16777216 or o>=1099511627776 then return end
w=g%4294967296
D=8388608+(g-w)/4294967296
if l==1 and h==0 and V<16777216 and i<256 and o<256000000 and o%1000000==0 then
dM(b,pack('>I3I4I3BB',D,w,V,i,o/1000000),j)
else
dM(b,pack('>I3I4I3I5I3I5I5',D,w,h,V,i,l,o),j)
end
return true
end
local function aO(O,bm,C)
local a,e=bw[KEYS[O]],d[C+1]
if bm>=0 or d[e]~=0 or not a or#a~=27 or string.byte(a)~=8 then return end
local n,z,cn,t,an=ag('>I7I5I4I5I5',a,2)
local j,aa=n+z,bm==-1 and d[C+2]or t
if cn~=d[C]or q>=j or an==0 or aa>=1099511627776 then return end
if bm==-1 and not dI(O+1,e,t,aa,n+an-549755813888)then return end
a=string.sub(a,2)
if aa==t then
dM(O,'\\9'..a,j+60000000)
else
dM(O,'\\13'..a..pack('>I5I5',aa,0),j+60000000)
end
return j,t,aa
end
local bQ
local aW={}
local O,co=1,3
for F=1,d[2]do
local bm,Y=d[co],d[co+1]
local f,t,aj
if bw and Y==1 then f,t,aj=aO(O,bm,co+4)end
if f then
aW[#aW+1]=pack('>I7I7I7I7I7',2,f,t,aj,0)
else
bQ=bQ or s('hold-change',du)
local dJ,j,H=bQ(O,bm,co+4,Y)
aW[#aW+1]=pack('>I7I7',dJ,j)
for call=1,Y do
local t,aj,bU=0,0,0
for p=#H,1,-1 do
local K=H[p]
if K[1]==d[co+3*call+1]then t,aj,bU=K[2],K[3],K[4]end
end
aW[#aW+1]=pack('>I7I7I7',t,aj,bU)
end
for b=O,O+Y do
local v=bw and redis.pcall('GET',KEYS[b])
if bw then bw[KEYS[b]]=type(v)=='string'and v end
end
end
O,co=O+1+Y,co+4+3*Y
end
return table.concat(aW)
`,
    ].join(''),
}

export const leaseProgram: Program = {
  sha1: 'a0d3c5dde7d86bca3ffbe495975ceba7c8863f0c',
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
local bi=s'bucket'
local X,ao,aE,aH=bi.X,bi.ao,bi.aE,bi.aH
local dN=64
local function gb(u,aA)
local bO=#u+1
for p,dg in ipairs(u)do
if dg[4]>aA[4]then
bO=p
break
end
end
table.insert(u,bO,aA)
return u
end
local function fw(b,a,n)
local i,l,o=d[n],d[n+1],d[n+2]
local eI,aw,bS,fc,fD=d[n+3],d[n+4],d[n+5],d[n+6],d[n+7]
local k,f=q,0
local g,h,x,r,u,cT
if a then
local af,ac,ap
g,h,x,r,af,ac,ap,f,u=bi.S(a,0)
if g and(af~=i or ac~=l or ap~=o)then
g,h,x,r,u=bi.cw(g,h,x,r,af,ac,ap,i,l,o,u)
cT=true
end
if g and x>q then k=x end
end
if f>q then aw=0 end
local cE,aX={},nil
local bW=false
if u then
local fW,fV,bB=bi.aO(g,h,i,l,o,u,k)
for F,aA in ipairs(bB or{})do
if aA[1]==bS then aX=aA else cE[#cE+1]=aA end
end
bW=aX and fc<=aX[2]
if not bW then g,h,u,cT=fW,fV,bB,true end
end
local cf=0
if not bW then
local aJ,fa,ep=0,0,k+fD
if aX then
aJ=math.min(d[n+8],aX[3])
fa=math.min(d[n+9],aX[3]-aJ)
ep=math.max(ep,aX[4])
local bv,v=X(i,l,fa,0)
h=h-v
if h<0 then bv,h=bv+1,h+i end
local bd=aH(cE)+aJ
g,h=ao(g-bv,h,i,l,o-bd,k)
if x<k then x=k end
u=cE
end
local dA=0
if aw>=eI and(aX or#cE<dN)then
dA=o
if g then
local fv,dY=ao(g,h,i,l,o,k)
dA=aE(fv,dY,i,l,k)
end
end
if dA>=eI then cf=math.min(aw,dA)end
if cf>0 then
local w,cj=ao(-math.huge,0,i,l,o,k)
if not g then
g,h,r=w,cj,0
elseif g<w or(g==w and h<=cj)then
g,h=w,cj
if r>0 and k>=x+r then r=0 end
end
local z,v=X(i,l,cf,h)
g,h,x=g+z,v,k
end
if aJ+cf>0 then u=gb(cE,{bS,fc,aJ+cf,ep})end
cT=cT or cf>0
end
if cT then
if u and#u==0 then u=nil end
if not g then
ad(b,f)
else
local j=bi.j(g,h,x,r,i,l,o,u or{})
if f>j then j=f end
E(b,bi.a(g,h,x,r,i,l,o,f,u),j)
end
end
return cf
end
local aq,aW,ce={},{},{}
for p=1,#KEYS do
aq[p]=S(p)
aW[p]=fw(p,aq[p],3+(p-1)*d[2])
end
`,
      reply,
    ].join(''),
}

export const needsProgram: Program = {
  sha1: '668eed857182bdbab3c06aad777e96e097007c48',
  source: () =>
    [
      ``,
      clock,
      `local dX=call('HGETALL',KEYS[1])
local av,ch={},false
for p=1,#dX,2 do
local eU,aS=dX[p],dX[p+1]
local n=tonumber(string.match(aS,'^%d+'))
if eU==d[2]then
ch=true
elseif q-n>d[3]or n-q>d[3]then
call('HDEL',KEYS[1],eU)
else
av[#av+1]=string.sub(aS,18)
end
end
if d[5]==''then
call('HDEL',KEYS[1],d[2])
elseif ch or#av<d[4]then
call('HSET',KEYS[1],d[2],string.format('%016.0f ',q)..d[5])
call('PEXPIRE',KEYS[1],math.ceil(d[3]/1000))
end
return av
`,
    ].join(''),
}

export const regionProgram: Program = {
  sha1: '0d8cf9959191d6b780e6ee0190b7052f4e06f82e',
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
local bT=call('INFO','server')..call('INFO','replication')
local bI=string.match(bT,'run_id:(%x+)')..'-'..string.match(bT,'master_replid:(%x+)')
local aN=call('GET',KEYS[1])
local db=#KEYS>3
local a=db and S(4)
local bH=db and call('GET',KEYS[5])
local dU=a and redis.sha1hex(a)or''
local fp=aN and string.match(aN,'^%S+ %d+ ')or''
local bQ=bH and tonumber(string.match(bH,'^%d+'))or 0
local dk=d[2]==bI and d[3]==fp
if dk and db then dk=(d[5]==dU or d[7]=='-')and d[6]==bQ end
if not dk then return{bI,q,aN,a,dU,bH}end
local aJ=not db or d[10]=='-'or d[10]==''
if not aJ and bQ==0 and call('ZCARD',KEYS[3])>=d[11]then return 0 end
local au=call('INCR',KEYS[2])
if d[4]~=''then call('SET',KEYS[1],bI..' '..au..' '..d[4])end
if not db then return au end
if d[7]~='-'then
local ad=s('drop',E,remove,am)
local F,F,bh=s'block-value'
local ew=string.gsub(d[7],'..',function(dV)
return string.char(tonumber(dV,16))
end)
local f,j=d[8],d[9]
if ew==''then ad(4,f)else E(4,bh(ew,f),math.max(f,j))end
end
if d[10]==''then
call('DEL',KEYS[5])
call('ZREM',KEYS[3],KEYS[5])
elseif d[10]~='-'then
bH=au..' '..d[10]
call('SET',KEYS[5],bH)
call('ZADD',KEYS[3],au,KEYS[5])
end
if d[7]=='-'then return{bI,q,aN,a,dU,bH}end
return au
`,
    ].join(''),
}

export const releaseProgram: Program = {
  sha1: 'c820ec2ae9ab2b0c3211e19ed00c46b3fc9c942e',
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
local F,ct=s'slots'
local bu={}
for b=1,#KEYS do
local a=S(b)
if a and ak(a)==9000000000000000 then
bu[#bu+1]=b
else
local v,j=ct(a,d[2*b],d[2*b+1])
if v then E(b,v,j)elseif v==false then ad(b,j)end
end
end
return bu
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
  sha1: '8ea89422d62207ab559b9d8d5e34dd5e48a31cfa',
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
local aI=#KEYS
local av={}
for b=1,aI do
local a=S(b)
av[b],av[aI+b]=a,a and redis.sha1hex(a)or''
end
if#d==1 then
av[2*aI+1]=q
return av
end
for b=1,aI do
if av[aI+b]~=d[4*b-2]then return 0 end
end
local F,bg,bh=s'block-value'
local eN,fI=q+1000000,1+q%1000000000
for b=1,aI do
local a=string.gsub(d[4*b-1],'..',function(dV)
return string.char(tonumber(dV,16))
end)
local f,j=d[4*b],d[4*b+1]
if a==''then
E(b,bg(f>q and f or fI),math.max(f,eN))
else
if string.byte(a)~=2 then a=bh(a,f)end
E(b,a,math.max(f,j,eN))
end
end
return 1
`,
    ].join(''),
}
