// Made from the programs beside this file by `npm run generate`; edit those, not this.

/** A program: its digest, and its text, which is put together only for a server that does not know it. */
export interface Program {
  readonly sha1: string
  readonly source: () => string
}

const clock = `local call,KEYS=redis.call,KEYS
local pack,ag=struct.pack,struct.unpack
local d=cjson.decode(ARGV[1])
local bX=d[1]
local bE=bX==0 and call('TIME')
local s=bE and bE[1]*1000000+bE[2]or bX
`

const state = `local eW,eU,aC,eX,am,cy=r'strings'
local dC=ARGV[2]and ARGV[2]~=''and cjson.decode(ARGV[2])
if not dC then
return eW,eU,aC,eX,am
end
local cx,dS=r'packed-value'
local function ci(b)
if dC[2*b]<0 then return nil end
return pack('>I4I4',dC[2*b-1],dC[2*b])
end
local function S(b)
local aK=ci(b)
if not aK then return eW(b)end
local aI=redis.pcall('HMGET',KEYS[b],aK,'')
if aI.err then return false end
return aI[1]and cx(aI[1],aI[2]or'')
end
local function fI(O,aK,a,j)
local Q=redis.pcall('HGET',O,'')
if type(Q)=='table'then call('DEL',O)end
if type(Q)~='string'or#Q<6 or(#Q-6)%13>0 then Q=false end
local cc,bd=dS(a,Q and string.sub(Q,7)or'')
local U=Q and ag('>I6',Q)or 0
local aZ
if bX==0 and U*1000>=j then
if#Q==6+#bd then
aZ=call('HSET',O,aK,cc)
else
aZ=call('HSET',O,aK,cc,'',string.sub(Q,1,6)..bd)
end
else
local ea=j+math.max(0,j-s)/4
aZ=call('HSET',O,aK,cc,'',pack('>I6',math.max(U,math.floor(ea/1000)))..bd)
if bX~=0 and Q then
call('PEXPIREAT',O,cy(ea),'GT')
else
call('PEXPIREAT',O,cy(ea))
end
end
if aZ>0 and bX==0 and s%16==0 then
r('sweep',cx,am)(O)
end
end
local function E(b,a,j)
local aK=ci(b)
if aK then return fI(KEYS[b],aK,a,j+am)end
eU(b,a,j)
end
local function remove(b)
local aK=ci(b)
if not aK then
eX(b)
elseif type(redis.pcall('HGET',KEYS[b],aK))~='table'then
call('HDEL',KEYS[b],aK)
end
end
return S,E,aC,remove,am,ci
`

const strings = `local am=(ARGV[3]or 0)+0
local function S(b)
local a=redis.pcall('GET',KEYS[b])
return type(a)=='string'and a
end
local function cy(j)
if bX==0 then return math.floor(j/1000)+1 end
local k=call('TIME')
return k[1]*1000+math.ceil(math.max(0,j-s)/1000)+60000
end
local function E(b,a,j)
call('SET',KEYS[b],a,'PXAT',cy(j+am))
end
local function aC(b,j)
call('PEXPIREAT',KEYS[b],cy(j+am))
end
local function remove(b)
call('DEL',KEYS[b])
end
return S,E,aC,remove,am,cy
`

const packedValue = `local function cx(a,Q)
local G=#a
if G~=13 and G~=14 then return a end
local D,w,V,p=ag('>I3I4I5B',a)
if D<6291456 or D>=10485760 or#Q<6+13*p or p<1 then return a end
local i,l,o=ag('>I3I5I5',Q,13*p-6)
local h=0
if G==14 then h=string.byte(a,14)end
return pack('>I3I4I3I5I3I5I5',D,w,h,V,i,l,o)
end
local function dS(a,bd)
if#a~=28 then return a,bd end
local D,w,h,V=ag('>I3I4I3I5',a)
if D<6291456 or D>=10485760 or h>255 then return a,bd end
local cD,p=string.sub(a,16),0
for n=1,#bd,13 do
if string.sub(bd,n,n+12)==cD then p=(n+12)/13 end
end
if p==0 then
if#bd>51 then return a,bd end
bd=bd..cD
p=#bd/13
end
local cc=pack('>I3I4I5B',D,w,V,p)
if h>0 then cc=cc..string.char(h)end
return cc,bd
end
return cx,dS
`

const sweep = `local cx,am=...
local ak=r'block-value'
local ek=r'state-until'
return function(O)
local bD=call('HRANDFIELD',O,128,'WITHVALUES')
local Q=call('HGET',O,'')
for p=1,#bD,2 do
local a=cx(bD[p+1],Q)
local f=ak(a)
if bD[p]~=''and(ek(a)or 0)+am<=s and f+am<=s then call('HDEL',O,bD[p])end
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
local function bf(f)
local w=f%4294967296
return pack('>I3I4',14680064+(f-w)/4294967296,w)
end
local function bg(a,f)
if f+60000000<=s then return a end
return bf(f)..a
end
return ak,bf,bg
`

const stateUntil = `local ak=r'block-value'
local bT=r'bucket-value'
local X,ao=r'bucket-flow'
local F,F,cg=r('bucket-leases',X,ao)
local cq,F,bq=r'window-value'
local co=r'counter-value'
local cp=r'record-value'
return function(a)
local g,h,x,q,i,l,o,F,u=bT(a,0)
if g then return cg(g,h,x,q,i,l,o,u or{})end
local m,F,B,I=cq(a)
if m then return bq(m,B,I)end
local bi,M,F,y=co(a)
if bi and M>0 then return bi+y end
local F,eD=cp(a)
if eD then return eD+60000000 end
local F,J=ak(a)
if string.byte(J)==3 then return(ag('>I7',J,2))end
return bi
end
`

const bucketValue = `local ak,F,bg=r'block-value'
local function fA(h,x,q,i,l,o)
if h>=i or x>9007199254740991 or q>3200000000000000 then return false end
if l<1 or o<1 or l>9007199254 then return false end
return i*(o/1000000+2)<=9007199254740992 and o/i*l<=3200000000000000
end
local function bT(a,f)
local G=#a
local D,w,h,V,x,q,i,l,o
if G==12 then
D,w,V,i,o=ag('>I3I4I3BB',a)
h,q,l,o=0,0,1,o*1000000
elseif G==28 then
D,w,h,V,i,l,o=ag('>I3I4I3I5I3I5I5',a)
q=0
elseif G>=49 and(G-49)%28==0 then
D,w,h,x,q,i,l,o=ag('>I3I4I7I7I7I7I7I7',a)
end
if D and D>=6291456 and D<10485760 then
local g,u=(D-8388608)*4294967296+w,nil
x=x or g+V
if not fA(h,x,q,i,l,o)then return nil,nil,nil,nil,nil,nil,nil,0 end
for n=50,G,28 do
u=u or{}
u[#u+1]={ag('>I7I7I7I7',a,n)}
end
return g,h,x,q,i,l,o,f,u
end
local em,J=ak(a)
if em==0 or f>0 then return nil,nil,nil,nil,nil,nil,nil,0 end
if J==''then return nil,nil,nil,nil,nil,nil,nil,em end
return bT(J,em)
end
local function cP(g,h,x,q,i,l,o,f,u)
local w,V=g%4294967296,x-g
local D=8388608+(g-w)/4294967296
local a
if q>0 or u or V<0 or V>=1099511627776 or i>=16777216 or o>=1099511627776 then
a=pack('>I3I4I7I7I7I7I7I7',D,w,h,x,q,i,l,o)
for F,az in ipairs(u or{})do a=a..pack('>I7I7I7I7',az[1],az[2],az[3],az[4])end
elseif l==1 and h==0 and V<16777216 and i<256 and o<256000000 and o%1000000==0 then
a=pack('>I3I4I3BB',D,w,V,i,o/1000000)
else
a=pack('>I3I4I3I5I3I5I5',D,w,h,V,i,l,o)
end
if f>0 then return bg(a,f)end
return a
end
return bT,cP
`

const bucketFlow = `local function X(i,l,bt,A)
local bY=l*1000000
local dm,eK=bY%i,l%i
local H=bt%1000000
local bp=(bt-H)/1000000
local ah=A+bp*dm+H*eK
local v=ah%i
return bp*((bY-dm)/i)+H*((l-eK)/i)+(ah-v)/i,v
end
local function eS(i,l,fe,A,z)
local N=0
if z<=0 then return N end
local dX=(z-A/i)/(l*fe/i)*(1-2^-50)
if dX>0 then N=dX-dX%1 end
while true do
local aT,v=X(i,l,(N+1)*fe,A)
if aT>z or(aT==z and v>0)then return N end
N=N+1
end
end
local function ao(g,h,i,l,bt,k)
if bt<0 then bt=0 end
local z,v=X(i,l,bt,0)
local w,ch=k-z,0
if v>0 then w,ch=w-1,i-v end
if g>w or(g==w and h>=ch)then return g,h end
return w,ch
end
local function aD(g,h,i,l,k)
local bp=eS(i,l,1000000,h,k-g)
local aT,v=X(i,l,bp*1000000,h)
g,h=g+aT,v
local H=eS(i,l,1,h,k-g)
return bp*1000000+H,g,h,H
end
local function bn(i,l,bp)
local bY=l*1000000
local h=bY%i
local cZ=h%131072
local bA=bp*((h-cZ)/131072)
local C=bA%i
local cQ=C*131072+bp*cZ
local v=cQ%i
return bp*((bY-h)/i)+(bA-C)/i*131072+(cQ-v)/i,v
end
local function by(i,l,o,k)
return math.min(k+3155760000000000,9007199254740990-(X(i,l,o,0)))
end
return X,ao,aD,bn,by
`

const bucketLeases = `local X,ao=...
local function aG(u)
local bc=0
for F,az in ipairs(u)do bc=bc+az[3]end
return bc
end
local function aN(g,h,i,l,o,u,k)
local bc,v=aG(u),{}
for F,az in ipairs(u)do
if az[4]<=k and#v==0 then
g,h=ao(g,h,i,l,o-bc,az[4])
bc=bc-az[3]
else
v[#v+1]=az
end
end
if#v==0 then return g,h,nil end
g,h=ao(g,h,i,l,o-bc,k)
return g,h,v
end
local function cg(g,h,x,q,i,l,o,u)
local bc=aG(u)
for F,az in ipairs(u)do
g,h=ao(g,h,i,l,o-bc,az[4])
bc=bc-az[3]
end
local aT,v=X(i,l,o,h)
local j=g+aT
if v>0 then j=j+1 end
if q>0 and x+q>j then j=x+q end
return j
end
return aG,aN,cg
`

const windowValue = `local ak,F,bg=r'block-value'
local function cq(a)
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
local function dp(m,N,y,I,f)
local w,cs=m%4294967296,y%281474976710656
local el=I*16+(y-cs)/281474976710656
local a=pack('>I3I4I7BI6',10485760+(m-w)/4294967296,w,N,el,cs)
if f>0 then return bg(a,f)end
return a
end
local function bq(m,y,I)
if I>2 then return m+y end
return m+math.ceil(y/(I==2 and 4 or I==1 and 16 or 64))
end
return cq,dp,bq
`

const counterValue = `local ak,F,bg=r'block-value'
local function co(a)
local f,J=0,a
if#a~=28 then f,J=ak(a)end
if#J==28 then
local D,w,M,R,ax,y=ag('>I3I4I7I7BI6',J)
y=ax%16*281474976710656+y
if D>=12582912 and D<14680064 and y>0 then
return(D-12582912)*4294967296+w,M,R,y,math.floor(ax/16),f
end
end
if J==a then f,J=ak(a)end
return nil,nil,nil,nil,nil,J==''and f or 0
end
local function cV(m,M,R,y,ax,f)
local w,cs=m%4294967296,y%281474976710656
local el=ax*16+(y-cs)/281474976710656
local a=pack('>I3I4I7I7BI6',12582912+(m-w)/4294967296,w,M,R,el,cs)
if f>0 then return bg(a,f)end
return a
end
return co,cV
`

const recordValue = `local eq,dq,er=1099511627776,549755813888,4503599627370496
local function cp(a)
local cz,G=a and string.byte(a),a and#a
if not cz or cz<8 or cz>15 or G<13 then return nil end
local bB=cz%2
local aS,Z=cz%4>1,cz>11
local au=aS and'I7'or'I5'
local n,z,A=ag('>I7'..au,a,2)
local cY='>I4'..au..au
if Z then cY=cY..au..au end
local fc=4+(Z and 4 or 2)*(aS and 7 or 5)
if(G-A+1)%fc>0 then return nil end
local H={}
for C=A,G,fc do
local cl,t,an,aj,bS=ag(cY,a,C)
if not Z then aj,bS=t,0 end
if an>0 then an=n+an-(aS and er or dq)end
H[#H+1]={cl,t,aj,bS,an}
end
return n,n+z,bB,H
end
local function dh(n,j,bB,H)
local aS,Z=j-n>=eq,false
for F,K in ipairs(H)do
local t,aj,bS,an=K[2],K[3],K[4],K[5]
if aj~=t or bS>0 then Z=true end
if math.max(t,aj,bS)>=eq or an~=0 and(an<=n-dq or an>=n+dq)then aS=true end
end
local au=aS and'I7'or'I5'
local cY='>I4'..au..au
local a=pack('>BI7'..au,8+bB+(aS and 2 or 0)+(Z and 4 or 0),n,j-n)
for F,K in ipairs(H)do
local an=K[5]
if an~=0 then an=an-n+(aS and er or dq)end
a=a..pack(cY,K[1],K[2],an)
if Z then a=a..pack('>'..au..au,K[3],K[4])end
end
return a
end
return cp,dh
`

const drop = `local E,remove,am=...
local F,bf=r'block-value'
return function(b,f)
if f>s then return E(b,bf(f),f)end
if am>0 then return E(b,bf(1),s)end
remove(b)
end
`

const bucketChange = `local S,E,ad=...
local bT,cP=r'bucket-value'
local X,ao,aD,bn,by=r'bucket-flow'
local aG,aN,cg=r('bucket-leases',X,ao)
local function ca(b,i,l,o,aE,at,fV,ej)
local k,f=s,0
local a=S(b)
local g,h,x,q,u,ay
if a then
local af,ac,ap
g,h,x,q,af,ac,ap,f,u=bT(a,0)
if f==9000000000000000 then return true end
if g and(af~=i or ac~=l or ap~=o)then
local dO=r('bucket-adopt',X,ao,aD,bn,by,aG,aN)
g,h,x,q,u=dO(g,h,x,q,af,ac,ap,i,l,o,u)
ay=true
end
if g and x>s then k=x end
end
if u then
ay=ay or fV
g,h,u=aN(g,h,i,l,o,u,k)
end
local A,dw,aJ,w=g,h,q,k-aE
if not g then
A,dw,aJ=w,at,0
elseif g<w or(g==w and h<=at)then
A,dw=w,at
if q>0 and k>=x+q then aJ=0 end
end
local aO,z,cJ=ej(A,dw,k,u)
if not aO then
if not ay then return end
if not g then return ad(b,f)end
else
g,h,q=A,dw,aJ
local av,ck=k+aE,0
if at>0 then av,ck=av-1,i-at end
local br=by(i,l,o,k)
if av>br or(av==br and ck>0)then av,ck=br,0 end
if g>av or(g==av and h>ck)then av,ck=g,h end
local ah=h-aO*cJ
local v=ah%i
g,h,x=g-aO*z+(ah-v)/i,v,k
if aO<0 and(g>av or(g==av and h>ck))then g,h=av,ck end
if u then g,h=ao(g,h,i,l,o-aG(u),k)end
end
local j=g+aE
if h>at then j=j+1 end
if q>0 and x+q>j then j=x+q end
if u then
j=cg(g,h,x,q,i,l,o,u)
elseif j<=k then
return ad(b,f)
end
if f>j then j=f end
E(b,cP(g,h,x,q,i,l,o,f,u),j)
end
return ca,X,aD,bn
`

const bucketAdopt = `local X,ao,aD,bn,by,aG,aN=...
local function dO(g,h,x,q,af,ac,ap,i,l,o,u)
local k=s
if x>s then k=x end
if u then
g,h,u=aN(g,h,af,ac,ap,u,k)
end
local eC,dW=X(af,ac,ap,0)
local bj,fs=X(af,ac,ap,h)
local f=g+bj
if fs>0 then f=f+1 end
if q>0 and x+q>f then f=x+q end
if f<=k then return nil end
local dB=eC
if dW>0 then dB=eC+1 end
g,h=ao(g,h,af,ac,ap,k)
local cW=0
if g>k or(g==k and h>0)then
local bY=ac*1000000
local dm=bY%af
cW=math.min(9007199256,math.floor((g-k+1)/((bY-dm)/af+dm/af))+1)
local E,fJ=bn(af,ac,cW)
g,h=g-E,h-fJ
if h<0 then g,h=g-1,h+af end
end
local bt,H
bt,g,h,H=aD(g,h,af,ac,k)
local K=(k-g)*af-h-H*ac
local am=0
if cW==0 and bt>=o then
bt=o
elseif K>0 then
local cZ=l%131072
local bA=K*((l-cZ)/131072)
local cQ=(bA%ac)*131072+K*cZ
am=(bA-bA%ac)/ac*131072+(cQ-cQ%ac)/ac
end
local z,cJ=X(i,l,bt,0)
local dP=cJ+am
if q>dB then dB=q end
g,h=k-z-(dP+(-dP)%i)/i,(-dP)%i
if cW>0 then
local fE,fF=bn(i,l,cW)
g,h=g+fE,h+fF
if h>=i then g,h=g+1,h-i end
end
local br=by(i,l,o,k)
if g>br or(g==br and h>0)then g,h=br,0 end
if u then
g,h=ao(g,h,i,l,o-aG(u),k)
end
return g,h,k,dB,u
end
return dO
`

const windowChange = `local S,E,ad=...
local cq,dp,bq=r'window-value'
local cM,cO,dg,dn=r('window-adopt',bq)
return function(b,e,fl)
local ae=d[e+2]
local f=0
local a=S(b)
local m,N,z,I,ay
if a then
local bo
m,N,z,I,f=cq(a)
if f==9000000000000000 then return true end
bo=m
if m then m,N,z,I,ay=cM(m,N,z,I,e)end
if bo and not m then ad(b,f)end
end
local U,aS,ct,aw=m,z,I,N
if not(m and s<m)then
U,aS,ct=cO(m,z,I,e)
aw=0
end
local al,aB,L
al,aB,L,aS,ct=dg(U,aw,aS,ct,e)
local ai=fl(L,al)
if ai~=0 then
aw,ay=aB+L-ai,true
if ai>0 and aw==0 and ct<4 then return ad(b,f)end
m,N,z,I=U,aw,aS,dn(ct,aw,ae)
end
if not ay then return end
E(b,dp(m,N,z,I,f),math.max(bq(m,z,I),f))
end
`

const windowAdopt = `local bq=...
local function eB(e,k)
local B=d[e+3]
if d[e+4]==1 then return k+B end
local fb=k-d[e+8]
return fb-fb%B+B+d[e+8]
end
local function cM(m,N,y,I,e)
local B=d[e+3]
if y==B and I<5 then return m,N,y,I,false end
if s>=m then
if s>=bq(m,y,I)then return nil end
return m,N,y,I,false
end
if I==6 then
if B<=y then return m,N,y,I,false end
return m,9007199254740991,B,4,true
end
if y==B then return m,N,y,4,true end
if B<y and I>=4 then return m,N,y,I,false end
local U=eB(e,s)
if B>y and d[e+4]==1 then
U=m-y+B
elseif m>U then
U=m
end
return U,N,math.max(y,B),4,true
end
local function cO(m,y,I,e)
local B,aV=d[e+3],eB(e,s)
if not m or s>=bq(m,y,I)then return aV,B,0 end
if B>y then return math.max(aV,m+y),B,4 end
if B<y and I<5 then return m+y,y,5 end
if d[e+4]~=1 and aV-B<m then aV=aV+B end
return aV,B,0
end
local function dg(m,N,y,I,e)
local ae,B,K=d[e+2],d[e+3],0
if I>=5 and B<y then
K=math.max(0,math.min(math.floor((s-m+y)/B),math.floor(y/B)-1))
end
local al,aB=m-y+K*B,K*ae
local L=math.max(0,N-aB)
if I==6 or I==5 and aB>9007199254740991-2*ae then return al,0,L,m-al,6 end
return al,aB,L,y,I
end
local function dn(I,N,ae)
if I>=4 then return I end
if N*4>ae then return 3 end
return N*16>ae and 2 or N*64>ae and 1 or 0
end
return cM,cO,dg,dn
`

const counterChange = `local S,E,ad=...
local co,cV=r'counter-value'
local cL,cH,dk=r'counter-adopt'
return function(b,e,fm)
local B=d[e+3]
local f=0
local a=S(b)
local m,M,R,z,ax,ay
if a then
local bo
m,M,R,z,ax,f=co(a)
if f==9000000000000000 then return true end
bo=m
if m then
m,M,R,z,ax,ay=cL(m,M,R,z,ax,e)
end
if bo and not m then ad(b,f)end
end
local aJ=m and s<m
local bi,eN,eb=cH(m,M,R,B)
if not aJ then z,ax=B,0 end
local cB,de=fm(bi,eN,eb,z,dk(bi,eb,z,e))
if cB~=0 or de~=0 then
m,M,R,ay=bi,eN-cB,eb-de,true
if M+R==0 then return ad(b,f)end
end
if not ay then return end
local j=m
if M>0 then j=m+z end
E(b,cV(m,M,R,z,ax,f),math.max(j,f))
end
`

const counterAdopt = `local function cH(m,M,R,B)
if m and s<m then return m,M,R end
if not m or s>=m+B then return s-s%B+B,0,0 end
return m+B,0,M
end
local function cL(m,M,R,y,ax,e)
local B=d[e+3]
if y==B then
if ax==0 or s>=m then return m,M,R,y,ax,false end
return m,M,R,y,0,true
end
if y>B and s<m then return m,M,R,y,ax,false end
m,M,R=cH(m,M,R,y)
if y>B and ax==0 then
if R==0 then return nil end
return m,M,R,y,1,true
end
m=m-y+B
if s>=m or M+R==0 then return nil end
return m,M,R,B,0,true
end
local function dk(m,R,y,e)
if R==0 then return 0 end
local cE=d[e+4]
if y~=d[e+3]then
cE=1
while y/cE>1000000 do cE=cE*10 end
end
local dF=math.floor(y/cE)
local v=math.min(dF,math.ceil((m-s)/cE))
local bp=math.floor(R/1000000)
local eT=bp*v
local bI=math.floor(eT/dF)
local h=(eT-bI*dF)*1000000+(R-bp*1000000)*v
return bI*1000000+math.ceil(h/dF)
end
return cL,cH,dk
`

const logChange = `local E,aC,ad=...
local P=r('log-value',E,aC)
local bZ,cK,cT=r('log-adopt',P)
local di,ef=r('log-refund',P,ad,E)
local function cR(b,e,bO)
local aX=P.aF(b)
if aX.f==9000000000000000 then return true end
local c=bZ(aX,e)
if aX.bo and not c.bo then ad(b,c.f)end
local k,C,L=cK(c,e)
if not bO(c,k,C,L)and c.dV then P.dH(c)end
end
local function cb(c,e,C,k,ab)
P.aA(c,cT(c,e,C,k,ab))
end
return cR,cb,di,ef,P
`

const logValue = `local E,aC=...
local ak=r'block-value'
local aY,aQ,bK,bL=47,14,64,4503599627370496
local function eL(b,f)
return{b=b,G=0,as=0,aB=0,n=0,ah=0,y=0,q=0,f=f,aX=0,ds=true}
end
local function fD(b)
local O,c=KEYS[b],eL(b,0)
local a=redis.pcall('GETRANGE',O,0,aY+bK*aQ-1)
if type(a)~='string'then return c end
local B=#a
if B==aY+bK*aQ then B=call('STRLEN',O)end
if B<aY or string.byte(a)~=2 or(B-aY)%aQ>0 then
local f,J=ak(a)
if J==''then c.f=f end
return c
end
local F,f,y,q,aB,n,ah,as=ag('>BI7I7I7I7I7I7I4',a)
local aX=(B-aY)/aQ
if as>aX or y<1 then return c end
c.bo,c.ds,c.aX,c.G=true,false,aX,aX+1
c.f,c.y,c.q,c.aB,c.n,c.ah,c.as=f,y,q,aB,n,ah,as
c.ed={[0]=string.sub(a,aY+1)}
return c
end
local function bl(c,p)
if p==c.G-1 then return c.n,c.ah end
if p==c.aX then return c.eQ,c.eR end
local eO=p%bK
local au=(p-eO)/bK
local dD=c.ed[au]
if not dD then
local A=aY+au*bK*aQ
dD=call('GETRANGE',KEYS[c.b],A,A+bK*aQ-1)
c.ed[au]=dD
end
local n,ah=ag('>I7I7',dD,eO*aQ+1)
return n,ah
end
local function aL(c,p)
if p<c.as then return 0 end
local F,ah=bl(c,p)
return(ah-c.aB)%bL
end
local function bP(c,fy,A)
local w,D=A,c.G
while w<D do
local cj=math.floor((w+D)/2)
if bl(c,cj)>fy then D=cj else w=cj+1 end
end
return w
end
local function cX(c,ah,A)
local w,D=A,c.G
while w<D do
local cj=math.floor((w+D)/2)
if aL(c,cj)>=ah then D=cj else w=cj+1 end
end
return w
end
local function cb(c,aA)
local A=aA.A
c.dV,c.bo,c.y,c.q=true,true,aA.y,aA.q
if A==c.G then
c.ds,c.aX,c.G,c.as,c.aB,c.n,c.ah=true,0,1,0,0,aA.k,aA.ab
return
end
if A>c.as then
local F,aB=bl(c,A-1)
c.aB,c.as=aB,A
end
if not aA.cA then
c.eQ,c.eR,c.G=c.n,c.ah,c.G+1
end
c.n,c.ah=aA.k,(c.ah+aA.ab)%bL
end
local function eJ(c,as)
return pack('>BI7I7I7I7I7I7I4',2,c.f,c.y,c.q,c.aB,c.n,c.ah,as)
end
local function eI(c)
local j=c.n+c.y
if c.q>c.y then j=c.n+c.q end
if c.f>j then j=c.f end
return j
end
local function fN(c)
local j=eI(c)
local Z=c.G-1>c.aX
local aZ=''
if Z and c.as<=c.aX then aZ=pack('>I7I7',c.eQ,c.eR)end
local as=c.as
local bI=c.ds or c.aX<=bK or as>c.G-as
if bI then as=0 end
local Q=eJ(c,as)
if bI then
local bN=''
if not c.ds then
if c.aX<=bK then
bN=string.sub(c.ed[0],c.as*aQ+1)
else
bN=call('GETRANGE',KEYS[c.b],aY+c.as*aQ,-1)
end
end
return E(c.b,Q..bN..aZ,j)
end
call('SETRANGE',KEYS[c.b],0,Q)
if Z then call('APPEND',KEYS[c.b],aZ)end
aC(c.b,j)
end
return{
aY=aY,
aQ=aQ,
bL=bL,
fC=eL,
aF=fD,
bl=bl,
aL=aL,
bP=bP,
cX=cX,
aA=cb,
Q=eJ,
j=eI,
dH=fN,
}
`

const logAdopt = `local P=...
local bP,aL=P.bP,P.aL
local ff=10000
local function bZ(c,e)
local B=d[e+3]
if not c.bo or c.y==B then return c end
local q=c.y
if c.q>q then q=c.q end
if c.n+q<=s then
return P.fC(c.b,c.f)
end
c.y,c.dV=B,true
if q>B then c.q=q else c.q=0 end
return c
end
local function cK(c,e)
local k=s
if c.n>s then k=c.n end
local C=bP(c,k-d[e+3],c.as)
return k,C,aL(c,c.G-1)-aL(c,C-1)
end
local function cT(c,e,C,k,ab)
local A,q,av=C,c.q,d[e+4]
if q>0 then A,av=bP(c,k-q,c.as),ff end
local aJ=c.G-A
local cA=aJ>0 and c.n==k
if not cA and aJ>=av then
if A<C then A=A+1 else cA=true end
end
if aJ==0 then q=0 end
return{A=A,k=k,cA=cA,ab=ab,y=d[e+3],q=q}
end
return bZ,cK,cT
`

const logRefund = `local P,ad,E=...
local bl,aL,aY,aQ,bL=P.bl,P.aL,P.aY,P.aQ,P.bL
local function eZ(c,al,aw)
local bW,ah={},(c.aB+aL(c,al-1))%bL
for p=al,c.G-1 do
local h=aL(c,p)-aL(c,p-1)-(aw[p]or 0)
if h>0 then
ah=(ah+h)%bL
bW[#bW+1]={(bl(c,p)),ah}
end
end
local bC=al
if#bW==0 then
if al==c.as then return ad(c.b,c.f)end
bC=al-1
c.n,c.ah=bl(c,bC)
else
c.n,c.ah=unpack(bW[#bW])
end
local bN=''
if bC>c.as then bN=call('GETRANGE',KEYS[c.b],aY+c.as*aQ,aY+bC*aQ-1)end
for p=1,#bW-1 do bN=bN..pack('>I7I7',bW[p][1],bW[p][2])end
E(c.b,P.Q(c,0)..bN,P.j(c))
end
local function fL(c,C,bb,ai,be)
local v,al,aw=ai,c.G,{}
local function dK(p)
local K=aL(c,p)-aL(c,p-1)
if K>v then K=v end
aw[p],v=K,v-K
end
if be<0 then
while al>C and v>0 do
al=al-1
dK(al)
end
elseif be>bb then
al=P.bP(c,be-1,C)
for p=al,c.G-1 do dK(p)end
end
if v<ai then eZ(c,al,aw)end
return ai-v
end
return fL,eZ
`

const bucketDescriptor = `local i,l,o=d[e+1],d[e+2],d[e+3]
local aE,at,ab,cw=d[e+4],d[e+5],d[e+6],d[e+7]
if d[e]==0 then
local H=aE*l
cw=H%i
ab=(H-cw)/i
H=o*l
at=-H%i
aE=(H+at)/i
end
`

const bucket = `local S,a=r'bucket-value'
local X,ao,aD,bn,by=r'bucket-flow'
local aG,aN,j=r('bucket-leases',X,ao)
local cu=r('bucket-adopt',X,ao,aD,bn,by,aG,aN)
return{
S=S,
a=a,
X=X,
ao=ao,
aD=aD,
by=by,
aG=aG,
aN=aN,
j=j,
cu=cu,
}
`

const bucketStep = `local k,f,T=s,0,0
local g,h,x,q,u,ay,bJ,j
if a then
local G=#a
local D,w,V,af,ac,ap
if G==12 then
D,w,V,af,ap=ag('>I3I4I3BB',a)
h,q,ac,ap=0,0,1,ap*1000000
elseif G==28 then
D,w,h,V,af,ac,ap=ag('>I3I4I3I5I3I5I5',a)
q=0
end
local dj=af==i and ac==l and ap==o
if dj and D>=6291456 and D<10485504 and h<i then
g=(D-8388608)*4294967296+w
x=g+V
else
bs=bs or ei(s,pack,ag)
g,h,x,q,af,ac,ap,f,u=bs.S(a,0)
end
if g then
if af~=i or ac~=l or ap~=o then
g,h,x,q,u=bs.cu(g,h,x,q,af,ac,ap,i,l,o,u)
ay=g
end
if g and x>s then k=x end
if u then
g,h,u=bs.aN(g,h,i,l,o,u,k)
end
end
end
local bb=k-aE
if not g then
g,h,q=bb,at,0
elseif g<bb or(g==bb and h<=at)then
g,h=bb,at
if q>0 and k>=x+q then q=0 end
end
local aF,br=aP,k
if f>s then aF=0 end
if bC and dQ<=o-(u and bs.aG(u)or 0)then br=k+bC end
while T<aF do
local dc,v=g+ab,h+cw
if v>=i then dc,v=dc+1,v-i end
if dc>br or(dc==br and v>0)then break end
g,h,T=dc,v,T+1
end
if T>0 or ay then
j=g+aE
if h>at then j=j+1 end
local V,w=k-g,g%4294967296
if q>0 or f>0 or u or V<0 or V>=1099511627776 or i>=16777216 or o>=1099511627776 then
bs=bs or ei(s,pack,ag)
bJ=bs.a(g,h,k,q,i,l,o,f,u)
if u then
j=bs.j(g,h,k,q,i,l,o,u)
elseif q>0 and k+q>j then
j=k+q
end
if f>j then j=f end
elseif l==1 and h==0 and V<16777216 and i<256 and o<256000000 and o%1000000==0 then
bJ=pack('>I3I4I3BB',8388608+(g-w)/4294967296,w,V,i,o/1000000)
else
bJ=pack('>I3I4I3I5I3I5I5',8388608+(g-w)/4294967296,w,h,V,i,l,o)
end
end
`

const reply = `local ep,aH=0,#KEYS
local aR={}
for b=1,aH do
aq[b]=aq[b]or''
aR[b]=#aq[b]
end
for K=1,#cd do aR[aH+K]=cd[K]end
for p=1,#aR do
if aR[p]>ep then ep=aR[p]end
end
local Q
if ep<256 and#aR<=2000 then
Q=string.char(1,unpack(aR))
else
for p=1,#aR do aR[p]=pack('>I4',aR[p])end
Q=string.char(4)..table.concat(aR)
end
for p=1,#aU do aU[p]=pack('>I7',aU[p])end
return Q..table.concat(aq,'',1,aH)..table.concat(aU)..pack('>I7',s)
`

const window = `local cq,dp,bq=r'window-value'
local cM,cO,dg,dn=r('window-adopt',bq)
return function(a,e,aP)
local ab,ae,eV=d[e+1],d[e+2],d[e+5]
local f,T=0,0
local m,N,z,I,ay
if a then
m,N,z,I,f=cq(a)
if m then m,N,z,I,ay=cM(m,N,z,I,e)end
end
if not(m and s<m)then
m,z,I=cO(m,z,I,e)
N=0
end
local al,aB,L,aS,ct=dg(m,N,z,I,e)
local dv,av=s-al,ae
if eV>0 and dv<eV then
if dv<0 then dv=0 end
local dx=math.floor(dv*d[e+6]/d[e+7])
if dx<1000000 then dx=1000000 end
if dx<av then av=dx end
end
if f>s then aP=0 end
while T<aP and L+ab<=av do
L,T=L+ab,T+1
end
if T>0 then
N,z=aB+L,aS
I=dn(ct,N,ae)
elseif not ay then
return 0
end
local j=bq(m,z,I)
if f>j then j=f end
return T,dp(m,N,z,I,f),j
end
`

const counter = `local co,cV=r'counter-value'
local cL,cH,dk=r'counter-adopt'
return function(a,e,aP)
local ab,ae,B=d[e+1],d[e+2],d[e+3]
local f,T,R,z,ax=0,0,0,B,0
local m,M,ay
if a then
m,M,R,z,ax,f=co(a)
if m then
m,M,R,z,ax,ay=cL(m,M,R,z,ax,e)
end
end
if not(m and s<m)then
m,M,R=cH(m,M,R,B)
z,ax=B,0
end
local ar=ae-dk(m,R,z,e)
if f>s then aP=0 end
while T<aP and M+ab<=ar do
M,T=M+ab,T+1
end
if T==0 and not ay then return 0 end
local j=m
if M>0 then j=m+z end
if f>j then j=f end
return T,cV(m,M,R,z,ax,f),j
end
`

const record = `local cp,dh=r'record-value'
local ak=r'block-value'
return function(a,e,aP,F,bF)
local F,f=cp(a)
if aP==0 or f and s<f+60000000 then return 0 end
if a and ak(a)>s then return 0 end
local N,H=d[e+3],{}
for p=1,N do
local cl,t=d[e+2+2*p],d[e+3+2*p]
H[p]={cl,t,t,0,bF and bF[#bF-N+p]or 0}
end
local j=s+d[e+1]
return 1,dh(s,j,d[e+2],H),j+60000000
end
`

const slots = `local ak,bf,bg=r'block-value'
local dN=4000
local function cn(a,A)
local D,w=ag('>I3I4',a,A)
return(D-2097152)*4294967296+w
end
local function bk(au)
local w=au%4294967296
return pack('>I3I4',2097152+(au-w)/4294967296,w)
end
local function ee(a)
local f,J=0,a or''
if a then f,J=ak(a)end
local G=#J
if string.byte(J)~=3 or G%35~=22 then
return nil,nil,'',0,s,J==''and f or 0
end
local x,U=cn(J,9),cn(J,16)
local k,A=s,23
if x>s then k=x end
while A<G and cn(J,A+21)<=k do A=A+35 end
local L=0
for bQ=A,G,35 do L=L+cn(J,bQ+14)end
return x,U,string.sub(J,A),L,k,f
end
local function dY(t,db)
local A=string.find(t,db,1,true)
while A and A%35~=1 do A=string.find(t,db,A+1,true)end
return A
end
local function aZ(t,bQ,f)
local A=#t+1
while A>1 and cn(t,A-14)>f do A=A-35 end
return string.sub(t,1,A-1)..bQ..string.sub(t,A)
end
local function eh(k,U,t,f)
local j=U+1
if t~=''then j=math.max(j,cn(t,#t-13))end
local a='\\3'..pack('>I7',j)..bk(k)..bk(U)..t
if f>0 then a=bg(a,f)end
return a,math.max(j,f),j
end
local function dK(a,e,aP,bM)
local ab,ae=(bM or 0)+d[e+1],d[e+2]
local T,bJ,j=0,nil,nil
while T<aP do
local x,U,t,L,k,f=ee(a)
if f>s or ab>ae then break end
local db=bk(d[e+5])..bk(d[e+6])
if d[e+4]==0 or not dY(t,db)then
if L+ab>ae or#t>=dN*35 then break end
U=x and math.max(k,U+1)or k
local m=k+d[e+3]
t=aZ(t,db..bk(ab)..bk(m)..bk(U),m)
a,j=eh(k,U,t,f)
bJ=a
end
T=T+1
end
return T,bJ,j
end
local function cr(a,bA,df)
local x,U,t,F,k,f=ee(a)
local A=x and dY(t,bk(bA)..bk(df))
if not A then return nil end
t=string.sub(t,1,A-1)..string.sub(t,A+35)
local v,j,bz=eh(k,U,t,f)
if bz<=k then return false,f end
return v,j
end
local function dE(a,bA,df,aT)
local x,U,t,F,k,f=ee(a)
local A=x and dY(t,bk(bA)..bk(df))
if not A or k+aT<=cn(t,A+21)then return nil end
local bQ=string.sub(t,A,A+20)..bk(k+aT)..string.sub(t,A+28,A+34)
t=aZ(string.sub(t,1,A-1)..string.sub(t,A+35),bQ,k+aT)
return eh(k,U,t,f)
end
return dK,cr,dE
`

const log = `local P=...
local bl,aL,cX=P.bl,P.aL,P.cX
local bZ,cK,cT=r('log-adopt',P)
local function eA(c,e,C,U,dd,L,ab)
local p=cX(c,aL(c,C-1)+L+ab-d[e+2],C)
if p<U then dd=bl(c,p)end
return dd+d[e+3]
end
local function dL(c,e,C,U,dd,L)
local ae=d[e+2]
local cF,cG=0,0
if ae>L then cF=math.floor((ae-L)/1000000)end
if L>0 then cG=dd+d[e+3]-s end
local Z=(cF+1)*1000000
if Z>ae then return cF,cG,cG end
return cF,eA(c,e,C,U,dd,L,Z)-s,cG
end
local function dT(c,e,ab)
local ae=d[e+2]
local k,C,L=cK(c,e)
if ab>ae-L then
if ab>ae then return 2,0,dL(c,e,C,c.G,c.n,L)end
return 1,eA(c,e,C,c.G,k,L,ab)-s,dL(c,e,C,c.G,c.n,L)
end
local aA=cT(c,e,C,k,ab)
local U=c.G
if aA.cA then U=U-1 end
local cF,fM,cG=dL(c,e,C,U,k,L+ab)
return 0,0,cF,fM,cG,aA
end
local function eo(c,e)
local F,C,L=cK(c,e)
return dL(c,e,C,c.G,c.n,L)
end
return bZ,dT,eo
`

const holdChange = `local dt=...
local S,E,aC,remove,am=r'state'
local ad=r('drop',E,remove,am)
local ak=r'block-value'
local cp,dh=r'record-value'
local dr=9000000000000000
local ca,X,aD,bn
local cr,dE
local function fR(g,h,k,u,i,l,o,t,aa,an)
if aa>t then
local ar=0
if g<k or(g==k and h==0)then
ar=o+aD(g,h,i,l,k)
else
local z,v=X(i,l,o,0)
z,v=g-z,h-v
if v<0 then z,v=z-1,v+i end
ar=aD(z,v,i,l,k)
end
local Z=math.min(aa-t,ar)
if Z<=0 then return t end
local z,v=X(i,l,Z,0)
return t+Z,-1,z,v
end
local eF,eG=g,h
if g<k then eF,eG=k,0 end
local ar,v=X(i,l,o,0)
ar,v=ar-(eF-an),v-eG
if v<0 then ar,v=ar-1,v+i end
if aa==t or ar<0 or(ar==0 and v==0)then return aa end
local H=(t-aa)%1000000
local bv,cN=bn(i,l,(t-aa-H)/1000000)
local Z
Z,cN=X(i,l,H,cN)
bv=bv+Z
if bv<ar or(bv==ar and cN<=v)then
if t-aa>2*o then bv,cN=X(i,l,2*o,0)end
return aa,1,bv,cN
end
if u then
local bI
if v>0 then bI=aD(0,i-v,i,l,ar+1)else bI=aD(0,0,i,l,ar)end
ar,v=X(i,l,bI,0)
end
return aa,1,ar,v
end
local function dI(b,e,t,aa,an)
if not ca then ca,X,aD,bn=r('bucket-change',S,E,ad)end
local i,l,o,aE,at=dt(e)
local aj
local function ej(g,h,k,u)
local aO,z,cJ
aj,aO,z,cJ=fR(g,h,k,u,i,l,o,t,aa,an)
return aO,z,cJ
end
ca(b,i,l,o,aE,at,true,ej)
return aj
end
local function fS(b,e,t,aa,F,n)
local aj
r('window-change',S,E,ad)(b,e,function(L,al)
local ai=math.min(math.max(0,t-aa),L)
if n<al then ai=0 end
ai=ai-math.max(0,math.min(aa-t,2*d[e+2]-L))
aj=t-ai
return ai
end)
return aj
end
local function fO(b,e,t,aa,F,n)
local aj
r('counter-change',S,E,ad)(b,e,function(bi,M,R,z,eg)
local eE=n>=bi-z
local dZ=not eE and n>=bi-2*z
local ai
if aa<t then
ai=math.min(t-aa,eE and M or dZ and R or 0)
else
local ae=d[e+2]
local ar=2*ae-M-eg
if dZ then ar=math.min(ar,2*ae-R)end
ai=-math.max(0,math.min(aa-t,ar))
end
aj=t-ai
if dZ then return 0,ai end
return ai,0
end)
return aj
end
local function fP(b,e,t,aa,F,n)
local cR,cb,di,ef,P=r('log-change',E,aC,ad)
local aj
cR(b,e,function(c,k,C,L)
aj=t
local bb=k-d[e+3]
if aa<t then
local aw=di(c,C,bb,t-aa,n)
aj=t-aw
return aw>0
end
local Z=math.min(aa-t,2*d[e+2]-L)
if Z<=0 then return end
aj=t+Z
local p=P.bP(c,n-1,C)
if n<=bb or p==c.G then return cb(c,e,C,k,Z)end
ef(c,p,{[p]=-Z})
return true
end)
return aj
end
local function ew(b,fp,...)
local a=S(b)
if a and ak(a)==dr then return true end
local v,j=fp(a,...)
if v then E(b,v,j)elseif v==false then ad(b,j)end
end
local aM={[0]=dI,fS,fO,fP,dI}
local function fz(b,e)
if d[e]==3 then
local F,F,F,F,P=r('log-change',E,aC,ad)
return P.aF(b).f==dr
end
local a=S(b)
return a and ak(a)==dr
end
local function ev(K,C,Y)
for call=1,Y do
if d[C+3*call-3]==K[1]then return C+3*call-3,call end
end
end
local function fQ(O,C,Y,H,n,fW)
for F,K in ipairs(H)do
local p,call=ev(K,C,Y)
if p then
local e,aa=d[p+1],d[p+2]
if d[e]==7 then
if ew(O+call,cr,d[C-2],d[C-1])then return true end
K[3]=0
elseif not fW then
local aj=aM[d[e]](O+call,e,K[2],aa,K[5],n)
if not aj then return true end
K[3],K[4]=aj,math.max(0,aa-aj)
end
end
end
end
local function fH(O,C,Y,H,aT)
for call=1,Y do
local cl,e=d[C+3*call-3],d[C+3*call-2]
for F,K in ipairs(H)do
if K[1]==cl and d[e]==7 then
if ew(O+call,dE,d[C-2],d[C-1],aT)then return true end
break
end
end
end
end
local function fw(O,C,Y)
if Y<2 then return false end
for call=1,Y do
if fz(O+call,d[C+3*call-2])then return true end
end
end
return function(O,bm,C,Y)
local a=S(O)
if a and ak(a)==dr then return 5,0,{}end
local n,j,bB,H=cp(a)
if not n or s>=j+60000000 then return 0,0,{}end
if bB==1 then return 4,j,H end
if s>=j then
for F,K in ipairs(H)do
local p=ev(K,C,Y)
if bm==-1 and p then K[4]=math.max(0,d[p+2]-K[3])end
end
return 3,j,H
end
if fw(O,C,Y)then return 5,0,{}end
if not cr then
local F
F,cr,dE=r'slots'
end
local dJ=2
if bm<0 then
if fQ(O,C,Y,H,n,bm==-2)then return 5,0,{}end
bB=1
else
if fH(O,C,Y,H,bm)then return 5,0,{}end
dJ,j=1,math.max(j,s+bm)
end
E(O,dh(n,j,bB,H),j+60000000)
return dJ,j,H
end
`

export const adjustProgram: Program = {
  sha1: '68eabbd1a4496ddba738bcaca34fcbab40b522f1',
  source: () =>
    [
      ``,
      clock,
      `local function r(W,...)
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
local be=d[2]
local S,E,aC,remove,am=r'state'
local ad=r('drop',E,remove,am)
local function et(b,e,aO)
local ca=r('bucket-change',S,E,ad)
`,
      bucketDescriptor,
      `return ca(b,i,l,o,aE,at,false,function(F,F,k)
if aO>0 and be>=0 and be<=k-aE then return nil end
return aO,ab,cw
end)
end
local function fk(b,e,aO)
local ai,ae=d[e+1],d[e+2]
return r('window-change',S,E,ad)(b,e,function(L,al)
if aO<0 then return-math.max(0,math.min(2*ae-L,ai))end
if be>=0 and be<al then return 0 end
return math.min(ai,L)
end)
end
local function fh(b,e,aO)
local ai,ae=d[e+1],d[e+2]
return r('counter-change',S,E,ad)(b,e,function(bi,M,R,z,eg)
if aO<0 then return-math.max(0,math.min(2*ae-M-eg,ai)),0 end
if be>=0 and be<bi-2*z then return 0,0 end
local al=bi-z
local cB,de=math.min(M,ai),0
if be>=0 and be<al then cB=0 end
if be<al then de=math.min(R,ai-cB)end
return cB,de
end)
end
local function fi(b,e,aO)
local cR,cb,di=r('log-change',E,aC,ad)
local ai=d[e+1]
return cR(b,e,function(c,k,C,L)
if aO>0 then return di(c,C,k-d[e+3],ai,be)>0 end
local aZ=math.min(ai,2*d[e+2]-L)
if aZ>0 then cb(c,e,C,k,aZ)end
end)
end
local function fj(b)
local ak=r'block-value'
local a=S(b)
return a and ak(a)==9000000000000000
end
local aM={[0]=et,fk,fh,fi,et,[7]=fj}
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
  sha1: 'f4bf838c6fb171e8468a4e49135aa5a8a8b766e9',
  source: () =>
    [
      ``,
      clock,
      `local function r(W,...)
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
local S,E,aC,remove,F,ci=r'state'
local ak,bf=r'block-value'
local ek=r'state-until'
local function fY(a)
local bT,cP=r'bucket-value'
local X,ao=r'bucket-flow'
local aG,aN,cg=r('bucket-leases',X,ao)
local g,h,x,q,i,l,o,F,u=bT(a,0)
if not u then return nil,''end
local k=s
if x>s then k=x end
g,h,u=aN(g,h,i,l,o,u,k)
if not u then return nil,''end
g,h=ao(-math.huge,0,i,l,o-aG(u),k)
a=cP(g,h,k,q,i,l,o,0,u)
return cg(g,h,k,q,i,l,o,u),a
end
local B=d[2]
local bu={}
local function fo(b)
local P=r('log-value',E,aC)
local c=P.aF(b)
if B<0 or not c.bo then return c.f,''end
c.f=0
if B>0 then c.f=s+B end
call('SETRANGE',KEYS[b],0,P.Q(c,c.as))
aC(b,P.j(c))
end
for b=1,#KEYS do
local aK,a=ci and ci(b),nil
if aK then a=S(b)else a=redis.pcall('GETRANGE',KEYS[b],0,2047)end
if type(a)~='string'then a=''end
if#a==2048 and string.byte(a)~=2 then a=call('GET',KEYS[b])end
local f,J,j=0,a,nil
if string.byte(a)==2 then
f,J=fo(b)
elseif a~=''then
f,J=ak(a)
j=ek(a)
if f==9000000000000000 then
f=0
if B>=0 then bu[#bu+1],J=b,nil end
elseif not j and J~=''then
f,J=0,''
end
end
if J then
if B<0 then
j,J=fY(J)
elseif B>0 then
f=s+B
else
f=0
end
if f>0 then
if J~=''then
E(b,bf(f)..J,math.max(f,j))
elseif f>s then
E(b,bf(f),f)
elseif aK then
call('HSET',KEYS[b],aK,bf(f))
else
call('SET',KEYS[b],bf(f),'KEEPTTL')
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
  sha1: 'e64831f02b9bce54d3911064e56f8245e9c6eede',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,ag,format=struct.pack,struct.unpack,string.format
local bE=call('TIME')
local s=bE[1]*1000000+bE[2]
local bs
local function ei(s,pack,ag)
local function r(W,...)
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
return r'bucket'
end
local i,l,o=ARGV[1]+0,ARGV[2]+0,ARGV[3]+0
local H=ARGV[4]*l
local cw=H%i
local ab=(H-cw)/i
H=o*l
local at=-H%i
local aE=(H+at)/i
local aH,fq,am=#KEYS,#ARGV>5,ARGV[5]+0
local aq={}
if aH==1 then
aq=call('MGET',KEYS[1])
elseif aH>1 then
aq=call('MGET',unpack(KEYS))
end
local cd,aU,aP={},{},1
local bC,dQ
for b=1,aH do
local a=aq[b]
if fq then aP=ARGV[5+b]+0 end
`,
      bucketStep,
      `if bJ then call('SET',KEYS[b],bJ,'PXAT',format('%d',(j+am)/1000+1))end
cd[b]=T
end
`,
      reply,
    ].join(''),
}

export const cellsProgram: Program = {
  sha1: '53e4525de0ae3cc40d6f39c23c0e812468963130',
  source: () =>
    [
      ``,
      clock,
      `local bR=call('INFO','server')..call('INFO','replication')
local bU=string.match(bR,'run_id:(%x+)')..'-'..string.match(bR,'master_replid:(%x+)')
local cf=call('ZRANGEBYSCORE',KEYS[3],'('..string.format('%.0f',d[2]),'+inf','LIMIT',0,d[3])
local aI={bU,s,call('GET',KEYS[1]),(call('GET',KEYS[2])or 0)+0,#cf<d[3]and 1 or 0}
for p=1,#cf do aI[5+p]=call('GET',cf[p])end
return aI
`,
    ].join(''),
}

export const consumeProgram: Program = {
  sha1: 'd300e1029ab0559822aeb3561b45422af1a609a7',
  source: () =>
    [
      ``,
      clock,
      `local function r(W,...)
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
local function dy(dl)
if dl==1 then
aM[1]=r'window'
elseif dl==2 then
aM[2]=r'counter'
elseif dl==6 then
aM[6]=r'record'
elseif dl==7 then
aM[7]=r'slots'
else
local bs
local function ei()
return r'bucket'
end
local function bh(a,e,aP,bM)
`,
      bucketDescriptor,
      `local bC,dQ
if d[e]==5 then
bC,dQ=d[e+8],d[e+9]+(bM or 0)
end
`,
      bucketStep,
      `return T,bJ,j,g
end
aM[0],aM[4],aM[5]=bh,bh,bh
end
return aM[dl]
end
local bG=d[3]
local S,E,aC
if ARGV[2]or bX~=0 or bG<#KEYS or bG>4000 then S,E,aC=r'state'end
local aq={}
if ARGV[2]and ARGV[2]~=''then
for b=1,bG do aq[b]=S(b)end
elseif bG>0 then
aq=call('MGET',unpack(KEYS,1,math.min(bG,4000)))
for b=4001,bG do aq[b]=S(b)end
end
local bj,j={},{}
local bH,G={},0
local cU,dR={},d[2]%2
for p=5+d[4]-(d[2]-dR)/2,4+d[4]do cU[d[p]]=true end
local cd={}
local function es(n,Y,Q,x)
for p=n,n+2*Y-2,2 do
local b,e=d[p],d[p+1]
if d[e]==3 then
bH[Q+3],bH[Q+4],bH[Q+5]=P.fX(x[b],e)
Q=Q+5
end
end
end
local aR={}
local function fx(e)
local aT,t=d[e+1],d[e+5]
local cs=d[e+3]==1 and aT<1099511627776 and t<1099511627776
aR[e]=cs and pack('>BI7I5I4I5',8+d[e+2],s,aT,d[e+4],t)
return aR[e]
end
local function fK(b,e,aW,cD)
local Q=aR[cD]
if Q==nil then Q=fx(cD)end
if not Q or bj[aW]or aq[aW]or cU[b]or cU[aW]then return end
local T,a,bz,an=(aM[d[e]]or dy(d[e]))(bj[b]or aq[b],e,1)
if T==0 then return end
local du=(an or 0)~=0 and an-s+549755813888 or 0
if du<0 or du>=1099511627776 or(du==0 and(an or 0)~=0)then return end
bj[b],j[b]=a,bz
bj[aW],j[aW]=Q..pack('>I5',du),s+d[cD+1]+60000000
return 1
end
local fg={[0]=true,true,true,[4]=true}
local function fv(n,Y)
if Y==2 and d[d[n+3]]==6 and fg[d[d[n+1]]]then
local T=fK(d[n],d[n+1],d[n+2],d[n+3])
if T then return T end
end
local aF=true
local aH,f,x,aw,ex,bF={},{},{},{},{},{}
local Q=G
for p=n,n+2*Y-2,2 do
local b,e=d[p],d[p+1]
if d[e]==3 then
if not x[b]then x[b]=P.cu(P.eP(b),e)end
local c,ab=x[b],(aw[b]or 0)+d[e+1]
aw[b]=ab
local ec
ec,bH[G+2],bH[G+3],bH[G+4],bH[G+5],ex[b]=
P.fr(c,e,ab)
bH[G+1]=ec
G=G+5
bF[#bF+1]=0
if ec>0 or c.f>s then aF=false end
elseif aF then
local bM=d[e]~=7 and aH[b]or bj[b]or aq[b]
local T,a,bz,an=
(aM[d[e]]or dy(d[e]))(bM,e,1,aw[b],bF)
bF[#bF+1]=an or 0
if T==0 then aF=false else aH[b],f[b]=a,bz end
if d[e]==5 then aw[b]=(aw[b]or 0)+d[e+9]end
if d[e]==7 then aw[b]=(aw[b]or 0)+d[e+1]end
end
end
if aF then
for p=n,n+2*Y-2,2 do
if cU[d[p]]and not aq[d[p]]then return 0 end
end
if dR==0 then es(n,Y,Q,x)end
for b,a in pairs(aH)do bj[b],j[b]=a,f[b]end
for b,aA in pairs(ex)do P.aA(b,x[b],aA)end
return 1
end
es(n,Y,Q,x)
for p=n,n+2*Y-2,2 do
local b,e=d[p],d[p+1]
if d[e]~=3 then
local F,a,bz=(aM[d[e]]or dy(d[e]))(bj[b]or aq[b],e,0)
if a then bj[b],j[b]=a,bz end
end
end
return 0
end
if bG<#KEYS then
local bD,aF=r('log-value',E,aC),{}
local bZ,dT,eo=r('log',bD)
P={
eP=function(b)
if not aF[b]then aF[b]=bD.aF(b)end
return aF[b]
end,
cu=bZ,
fr=dT,
fX=eo,
aA=function(b,c,aA)
aF[b]=c
bD.aA(c,aA)
end,
dH=function()
for F,c in pairs(aF)do
if c.dV then bD.dH(c)end
end
end,
}
for b=bG+1,#KEYS do
local c=P.eP(b)
aq[b]=(c.bo or c.f>0)and c.f
end
end
local n,U=5+d[4],#d
while n<=U do
local Y=d[n]
local C,ez,e,aP=1,1,0,1
if Y==0 then e,C,ez,aP=d[n+1],d[n+2],d[n+3],d[n+4]end
for b=C,ez do
local T,a,bz
if Y==0 then
T,a,bz=(aM[d[e]]or dy(d[e]))(bj[b]or aq[b],e,aP)
if cU[b]and not aq[b]then
T=0
elseif a then
bj[b],j[b]=a,bz
end
else
T=fv(n+1,Y)
end
cd[#cd+1]=T
end
n=n+5
if Y>0 then n=n-4+2*Y end
end
if dR==1 then
local U,fd
for b,a in pairs(bj)do
if E then
E(b,a,j[b])
else
if j[b]~=U then U,fd=j[b],string.format('%d',j[b]/1000+1)end
call('SET',KEYS[b],a,'PXAT',fd)
end
end
if P then P.dH()end
end
for b=bG+1,#KEYS do aq[b]=aq[b]and pack('>I7',aq[b])end
local aU=bH
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
  sha1: 'ee9a528b3f8f40fadca967d3cd318b72dbd15e79',
  source: () =>
    [
      `do
local call,KEYS,ARGV=redis.call,KEYS,ARGV
local ag=struct.unpack
local ba=cjson.decode(ARGV[#ARGV])
ARGV[#ARGV]=nil
local cv=(#ba-5)/6
local dG=#KEYS-cv
if ba[1]==1 then
local bR=call('INFO','server')..call('INFO','replication')
local bU=string.match(bR,'run_id:(%x+)')..'-'..string.match(bR,'master_replid:(%x+)')
local aW=call('GET',KEYS[dG])
if aW and string.match(aW,'^%S+')~=bU then call('DEL',KEYS[dG])end
if bU~=ba[2]then return{0}end
end
local cf={}
for bx=0,cv do cf[bx+1]=KEYS[dG+bx]end
for bx=1,cv do cf[cv+1+bx]=KEYS[ba[6*bx]]end
local aI=call('MGET',unpack(cf))
local aW=aI[1]
if not aW or string.sub(aW,1,#ba[3])~=ba[3]then return{0}end
local bV={}
for bx=1,cv do
local n=6*bx
local cI,a=aI[1+bx],aI[cv+1+bx]
local dz=ba[n+1]==(cI and tonumber(string.match(cI,'^%d+'))or 0)
if dz and ba[n+2]>0 then
if a and string.byte(a)and string.byte(a)>=224 then a=string.sub(a,8)end
local G=a and#a or 0
if G==0 then
local s=ba[5]
if s==0 then
local bE=call('TIME')
s=bE[1]*1000000+bE[2]
end
dz=s>=ba[n+5]
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
dz=D and x>=ba[4]and i==ba[n+2]and l==ba[n+3]and o==ba[n+4]
end
end
if not dz then bV[#bV+1]=bx end
end
if#bV>0 then return bV end
for O=#KEYS,dG,-1 do KEYS[O]=nil end
end
`,
    ].join(''),
}

export const holdsProgram: Program = {
  sha1: '104d8ff4bff24db1c7995a793135253dea1fba92',
  source: () =>
    [
      ``,
      clock,
      `local function r(W,...)
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
if bX~=0 then
local F
F,E=r'state'
end
end
local function dM(b,a,j)
bw[KEYS[b]]=a
if E then return E(b,a,j)end
call('SET',KEYS[b],a,'PXAT',string.format('%d',j/1000+1))
end
local function dt(e)
`,
      bucketDescriptor,
      `return i,l,o,aE,at
end
local function dI(b,e,t,aa,an)
local i,l,o,aE,at=dt(e)
local bb,Z=s-aE,(aa-t)*l
if aE>1000000000000000 or Z>o*l or-Z>o*l then return end
local a,g,h=bw[KEYS[b]],bb,at
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
if g+V>s or g>=s then return end
if g<bb or(g==bb and h<=at)then g,h=bb,at end
end
if Z==0 then return true end
if Z<0 then
local T=(s-an)*i
if T>9000000000000000 or T<-9000000000000000 then return end
local ar=o*l-T
if ar<=0 then return true end
if-Z>ar then return end
end
local ah=h+Z%i
local v=ah%i
g,h=g+(Z-Z%i)/i+(ah-v)/i,v
V=s-g
local j=g+aE
if h>at then j=j+1 end
if j<=s then
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
local function aN(O,bm,C)
local a,e=bw[KEYS[O]],d[C+1]
if bm>=0 or d[e]~=0 or not a or#a~=27 or string.byte(a)~=8 then return end
local n,z,cl,t,an=ag('>I7I5I4I5I5',a,2)
local j,aa=n+z,bm==-1 and d[C+2]or t
if cl~=d[C]or s>=j or an==0 or aa>=1099511627776 then return end
if bm==-1 and not dI(O+1,e,t,aa,n+an-549755813888)then return end
a=string.sub(a,2)
if aa==t then
dM(O,'\\9'..a,j+60000000)
else
dM(O,'\\13'..a..pack('>I5I5',aa,0),j+60000000)
end
return j,t,aa
end
local bO
local aU={}
local O,cm=1,3
for F=1,d[2]do
local bm,Y=d[cm],d[cm+1]
local f,t,aj
if bw and Y==1 then f,t,aj=aN(O,bm,cm+4)end
if f then
aU[#aU+1]=pack('>I7I7I7I7I7',2,f,t,aj,0)
else
bO=bO or r('hold-change',dt)
local dJ,j,H=bO(O,bm,cm+4,Y)
aU[#aU+1]=pack('>I7I7',dJ,j)
for call=1,Y do
local t,aj,bS=0,0,0
for p=#H,1,-1 do
local K=H[p]
if K[1]==d[cm+3*call+1]then t,aj,bS=K[2],K[3],K[4]end
end
aU[#aU+1]=pack('>I7I7I7',t,aj,bS)
end
for b=O,O+Y do
local v=bw and redis.pcall('GET',KEYS[b])
if bw then bw[KEYS[b]]=type(v)=='string'and v end
end
end
O,cm=O+1+Y,cm+4+3*Y
end
return table.concat(aU)
`,
    ].join(''),
}

export const leaseProgram: Program = {
  sha1: '8b95a5267dea15f7663804720fd5ae538450bc0d',
  source: () =>
    [
      ``,
      clock,
      `local function r(W,...)
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
local S,E,F,remove,am=r'strings'
local ad=r('drop',E,remove,am)
local bh=r'bucket'
local X,ao,aD,aG=bh.X,bh.ao,bh.aD,bh.aG
local dN=64
local function fZ(u,az)
local bM=#u+1
for p,df in ipairs(u)do
if df[4]>az[4]then
bM=p
break
end
end
table.insert(u,bM,az)
return u
end
local function fu(b,a,n)
local i,l,o=d[n],d[n+1],d[n+2]
local eH,av,bQ,fa,fB=d[n+3],d[n+4],d[n+5],d[n+6],d[n+7]
local k,f=s,0
local g,h,x,q,u,cS
if a then
local af,ac,ap
g,h,x,q,af,ac,ap,f,u=bh.S(a,0)
if g and(af~=i or ac~=l or ap~=o)then
g,h,x,q,u=bh.cu(g,h,x,q,af,ac,ap,i,l,o,u)
cS=true
end
if g and x>s then k=x end
end
if f>s then av=0 end
local cC,aV={},nil
local bV=false
if u then
local fU,fT,bB=bh.aN(g,h,i,l,o,u,k)
for F,az in ipairs(bB or{})do
if az[1]==bQ then aV=az else cC[#cC+1]=az end
end
bV=aV and fa<=aV[2]
if not bV then g,h,u,cS=fU,fT,bB,true end
end
local ce=0
if not bV then
local aJ,eY,en=0,0,k+fB
if aV then
aJ=math.min(d[n+8],aV[3])
eY=math.min(d[n+9],aV[3]-aJ)
en=math.max(en,aV[4])
local bv,v=X(i,l,eY,0)
h=h-v
if h<0 then bv,h=bv+1,h+i end
local bc=aG(cC)+aJ
g,h=ao(g-bv,h,i,l,o-bc,k)
if x<k then x=k end
u=cC
end
local dA=0
if av>=eH and(aV or#cC<dN)then
dA=o
if g then
local ft,dW=ao(g,h,i,l,o,k)
dA=aD(ft,dW,i,l,k)
end
end
if dA>=eH then ce=math.min(av,dA)end
if ce>0 then
local w,ch=ao(-math.huge,0,i,l,o,k)
if not g then
g,h,q=w,ch,0
elseif g<w or(g==w and h<=ch)then
g,h=w,ch
if q>0 and k>=x+q then q=0 end
end
local z,v=X(i,l,ce,h)
g,h,x=g+z,v,k
end
if aJ+ce>0 then u=fZ(cC,{bQ,fa,aJ+ce,en})end
cS=cS or ce>0
end
if cS then
if u and#u==0 then u=nil end
if not g then
ad(b,f)
else
local j=bh.j(g,h,x,q,i,l,o,u or{})
if f>j then j=f end
E(b,bh.a(g,h,x,q,i,l,o,f,u),j)
end
end
return ce
end
local aq,aU,cd={},{},{}
for p=1,#KEYS do
aq[p]=S(p)
aU[p]=fu(p,aq[p],3+(p-1)*d[2])
end
`,
      reply,
    ].join(''),
}

export const regionProgram: Program = {
  sha1: '645bfc535b65a135119c05c80f48e3810035e32d',
  source: () =>
    [
      ``,
      clock,
      `local function r(W,...)
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
local S,E,F,remove,am=r'strings'
local bR=call('INFO','server')..call('INFO','replication')
local bU=string.match(bR,'run_id:(%x+)')..'-'..string.match(bR,'master_replid:(%x+)')
local aW=call('GET',KEYS[1])
local da=#KEYS>3
local a=da and S(4)
local cI=da and call('GET',KEYS[5])
local ey=a and redis.sha1hex(a)or''
local fn=aW and string.match(aW,'^%S+ %d+ ')or''
local bO=cI and tonumber(string.match(cI,'^%d+'))or 0
local dj=d[2]==bU and d[3]==fn
if dj and da then dj=d[5]==ey and d[6]==bO end
if not dj then return{bU,s,aW,a,ey,cI}end
local aJ=not da or d[10]=='-'or d[10]==''
if not aJ and bO==0 and call('ZCARD',KEYS[3])>=d[11]then return 0 end
local au=call('INCR',KEYS[2])
if d[4]~=''then call('SET',KEYS[1],bU..' '..au..' '..d[4])end
if not da then return au end
if d[7]~='-'then
local ad=r('drop',E,remove,am)
local F,F,bg=r'block-value'
local eu=string.gsub(d[7],'..',function(dU)
return string.char(tonumber(dU,16))
end)
local f,j=d[8],d[9]
if eu==''then ad(4,f)else E(4,bg(eu,f),math.max(f,j))end
end
if d[10]==''then
call('DEL',KEYS[5])
call('ZREM',KEYS[3],KEYS[5])
elseif d[10]~='-'then
call('SET',KEYS[5],au..' '..d[10])
call('ZADD',KEYS[3],au,KEYS[5])
end
return au
`,
    ].join(''),
}

export const releaseProgram: Program = {
  sha1: '7762b8f88702f3692fbd4f837af26d8a6c3de188',
  source: () =>
    [
      ``,
      clock,
      `local function r(W,...)
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
local S,E,F,remove,am=r'state'
local ad=r('drop',E,remove,am)
local ak=r'block-value'
local F,cr=r'slots'
local bu={}
for b=1,#KEYS do
local a=S(b)
if a and ak(a)==9000000000000000 then
bu[#bu+1]=b
else
local v,j=cr(a,d[2*b],d[2*b+1])
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
  sha1: 'd85a577852b0ffffbdae10c1c0c9c103613ab645',
  source: () =>
    [
      ``,
      clock,
      `local function r(W,...)
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
local S,E=r'state'
local aH=#KEYS
local aI={}
for b=1,aH do
local a=S(b)
aI[b],aI[aH+b]=a,a and redis.sha1hex(a)or''
end
if#d==1 then
aI[2*aH+1]=s
return aI
end
for b=1,aH do
if aI[aH+b]~=d[4*b-2]then return 0 end
end
local F,bf,bg=r'block-value'
local eM,fG=s+1000000,1+s%1000000000
for b=1,aH do
local a=string.gsub(d[4*b-1],'..',function(dU)
return string.char(tonumber(dU,16))
end)
local f,j=d[4*b],d[4*b+1]
if a==''then
E(b,bf(f>s and f or fG),math.max(f,eM))
else
if string.byte(a)~=2 then a=bg(a,f)end
E(b,a,math.max(f,j,eM))
end
end
return 1
`,
    ].join(''),
}
