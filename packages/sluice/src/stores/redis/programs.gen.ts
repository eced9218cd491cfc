// Made from the programs beside this file by `npm run generate`; edit those, not this.

/** A program: its digest, and its text, which is put together only for a server that does not know it. */
export interface Program {
  readonly sha1: string
  readonly source: () => string
}

const clock = `local call,KEYS=redis.call,KEYS
local pack,ac=struct.pack,struct.unpack
local d=cjson.decode(ARGV[1])
local cg=d[1]
local bN=cg==0 and call('TIME')
local r=bN and bN[1]*1000000+bN[2]or cg
`

const state = `local fl,fj,aF,fm,ap,cH=s'strings'
local dH=ARGV[2]and ARGV[2]~=''and cjson.decode(ARGV[2])
if not dH then
return fl,fj,aF,fm,ap
end
local cG,dZ=s'packed-value'
local function cr(b)
if dH[2*b]<0 then return nil end
return pack('>I4I4',dH[2*b-1],dH[2*b])
end
local function T(b)
local aM=cr(b)
if not aM then return fl(b)end
local ae=redis.pcall('HMGET',KEYS[b],aM,'')
if ae.err then return false end
return ae[1]and cG(ae[1],ae[2]or'')
end
local function fX(L,aM,a,j)
local O=redis.pcall('HGET',L,'')
if type(O)=='table'then call('DEL',L)end
if type(O)~='string'or#O<6 or(#O-6)%13>0 then O=false end
local cl,bf=dZ(a,O and string.sub(O,7)or'')
local H=O and ac('>I6',O)or 0
local bb
if cg==0 and H*1000>=j then
if#O==6+#bf then
bb=call('HSET',L,aM,cl)
else
bb=call('HSET',L,aM,cl,'',string.sub(O,1,6)..bf)
end
else
local ek=j+math.max(0,j-r)/4
bb=call('HSET',L,aM,cl,'',pack('>I6',math.max(H,math.floor(ek/1000)))..bf)
if cg~=0 and O then
call('PEXPIREAT',L,cH(ek),'GT')
else
call('PEXPIREAT',L,cH(ek))
end
end
if bb>0 and cg==0 and r%16==0 then
s('sweep',cG,ap)(L)
end
end
local function E(b,a,j)
local aM=cr(b)
if aM then return fX(KEYS[b],aM,a,j+ap)end
fj(b,a,j)
end
local function remove(b)
local aM=cr(b)
if not aM then
fm(b)
elseif type(redis.pcall('HGET',KEYS[b],aM))~='table'then
call('HDEL',KEYS[b],aM)
end
end
return T,E,aF,remove,ap,cr
`

const strings = `local ap=(ARGV[3]or 0)+0
local function T(b)
local a=redis.pcall('GET',KEYS[b])
return type(a)=='string'and a
end
local function cH(j)
if cg==0 then return math.floor(j/1000)+1 end
local k=call('TIME')
return k[1]*1000+math.ceil(math.max(0,j-r)/1000)+60000
end
local function E(b,a,j)
call('SET',KEYS[b],a,'PXAT',cH(j+ap))
end
local function aF(b,j)
call('PEXPIREAT',KEYS[b],cH(j+ap))
end
local function remove(b)
call('DEL',KEYS[b])
end
return T,E,aF,remove,ap,cH
`

const packedValue = `local function cG(a,O)
local G=#a
if G~=13 and G~=14 then return a end
local C,u,V,o=ac('>I3I4I5B',a)
if C<6291456 or C>=10485760 or#O<6+13*o or o<1 then return a end
local i,m,p=ac('>I3I5I5',O,13*o-6)
local g=0
if G==14 then g=string.byte(a,14)end
return pack('>I3I4I3I5I3I5I5',C,u,g,V,i,m,p)
end
local function dZ(a,bf)
if#a~=28 then return a,bf end
local C,u,g,V=ac('>I3I4I3I5',a)
if C<6291456 or C>=10485760 or g>255 then return a,bf end
local bD,o=string.sub(a,16),0
for l=1,#bf,13 do
if string.sub(bf,l,l+12)==bD then o=(l+12)/13 end
end
if o==0 then
if#bf>51 then return a,bf end
bf=bf..bD
o=#bf/13
end
local cl=pack('>I3I4I5B',C,u,V,o)
if g>0 then cl=cl..string.char(g)end
return cl,bf
end
return cG,dZ
`

const sweep = `local cG,ap=...
local an=s'block-value'
local ev=s'state-until'
return function(L)
local bp=call('HRANDFIELD',L,128,'WITHVALUES')
local O=call('HGET',L,'')
for o=1,#bp,2 do
local a=cG(bp[o+1],O)
local f=an(a)
if bp[o]~=''and(ev(a)or 0)+ap<=r and f+ap<=r then call('HDEL',L,bp[o])end
end
end
`

const blockValue = `local function an(a)
local f,K=0,a
if#a>=7 then
local C,u=ac('>I3I4',a)
if C>=14680064 then f,K=(C-14680064)*4294967296+u,string.sub(a,8)end
end
if string.byte(K)==1 then return 9000000000000000,''end
return f,K
end
local function bi(f)
local u=f%4294967296
return pack('>I3I4',14680064+(f-u)/4294967296,u)
end
local function bj(a,f)
if f+60000000<=r then return a end
return bi(f)..a
end
return an,bi,bj
`

const stateUntil = `local an=s'block-value'
local ce=s'bucket-value'
local Y,aq=s'bucket-flow'
local F,F,cp=s('bucket-leases',Y,aq)
local cy,F,bx=s'window-value'
local cw=s'counter-value'
local cx=s'record-value'
return function(a)
local h,g,x,q,i,m,p,F,v=ce(a,0)
if h then return cp(h,g,x,q,i,m,p,v or{})end
local n,F,D,J=cy(a)
if n then return bx(n,D,J)end
local bl,Q,F,y=cw(a)
if bl and Q>0 then return bl+y end
local F,eP=cx(a)
if eP then return eP+60000000 end
local F,K=an(a)
if string.byte(K)==3 then return(ac('>I7',K,2))end
return bl
end
`

const bucketValue = `local an,F,bj=s'block-value'
local function fO(g,x,q,i,m,p)
if g>=i or x>9007199254740991 or q>3200000000000000 then return false end
if m<1 or p<1 or m>9007199254 then return false end
return i*(p/1000000+2)<=9007199254740992 and p/i*m<=3200000000000000
end
local function ce(a,f)
local G=#a
local C,u,g,V,x,q,i,m,p
if G==12 then
C,u,V,i,p=ac('>I3I4I3BB',a)
g,q,m,p=0,0,1,p*1000000
elseif G==28 then
C,u,g,V,i,m,p=ac('>I3I4I3I5I3I5I5',a)
q=0
elseif G>=49 and(G-49)%28==0 then
C,u,g,x,q,i,m,p=ac('>I3I4I7I7I7I7I7I7',a)
end
if C and C>=6291456 and C<10485760 then
local h,v=(C-8388608)*4294967296+u,nil
x=x or h+V
if not fO(g,x,q,i,m,p)then return nil,nil,nil,nil,nil,nil,nil,0 end
for l=50,G,28 do
v=v or{}
v[#v+1]={ac('>I7I7I7I7',a,l)}
end
return h,g,x,q,i,m,p,f,v
end
local ex,K=an(a)
if ex==0 or f>0 then return nil,nil,nil,nil,nil,nil,nil,0 end
if K==''then return nil,nil,nil,nil,nil,nil,nil,ex end
return ce(K,ex)
end
local function cX(h,g,x,q,i,m,p,f,v)
local u,V=h%4294967296,x-h
local C=8388608+(h-u)/4294967296
local a
if q>0 or v or V<0 or V>=1099511627776 or i>=16777216 or p>=1099511627776 then
a=pack('>I3I4I7I7I7I7I7I7',C,u,g,x,q,i,m,p)
for F,aC in ipairs(v or{})do a=a..pack('>I7I7I7I7',aC[1],aC[2],aC[3],aC[4])end
elseif m==1 and g==0 and V<16777216 and i<256 and p<256000000 and p%1000000==0 then
a=pack('>I3I4I3BB',C,u,V,i,p/1000000)
else
a=pack('>I3I4I3I5I3I5I5',C,u,g,V,i,m,p)
end
if f>0 then return bj(a,f)end
return a
end
return ce,cX
`

const bucketFlow = `local function Y(i,m,bB,A)
local ch=m*1000000
local dt,eX=ch%i,m%i
local I=bB%1000000
local bw=(bB-I)/1000000
local aj=A+bw*dt+I*eX
local w=aj%i
return bw*((ch-dt)/i)+I*((m-eX)/i)+(aj-w)/i,w
end
local function fg(i,m,fs,A,z)
local M=0
if z<=0 then return M end
local eg=(z-A/i)/(m*fs/i)*(1-2^-50)
if eg>0 then M=eg-eg%1 end
while true do
local aX,w=Y(i,m,(M+1)*fs,A)
if aX>z or(aX==z and w>0)then return M end
M=M+1
end
end
local function aq(h,g,i,m,bB,k)
if bB<0 then bB=0 end
local z,w=Y(i,m,bB,0)
local u,cq=k-z,0
if w>0 then u,cq=u-1,i-w end
if h>u or(h==u and g>=cq)then return h,g end
return u,cq
end
local function aG(h,g,i,m,k)
local bw=fg(i,m,1000000,g,k-h)
local aX,w=Y(i,m,bw*1000000,g)
h,g=h+aX,w
local I=fg(i,m,1,g,k-h)
return bw*1000000+I,h,g,I
end
local function bs(i,m,bw)
local ch=m*1000000
local g=ch%i
local ca=g%131072
local bI=bw*((g-ca)/131072)
local B=bI%i
local cY=B*131072+bw*ca
local w=cY%i
return bw*((ch-g)/i)+(bI-B)/i*131072+(cY-w)/i,w
end
local function bG(i,m,p,k)
return math.min(k+3155760000000000,9007199254740990-(Y(i,m,p,0)))
end
return Y,aq,aG,bs,bG
`

const bucketLeases = `local Y,aq=...
local function aJ(v)
local be=0
for F,aC in ipairs(v)do be=be+aC[3]end
return be
end
local function aP(h,g,i,m,p,v,k)
local be,w=aJ(v),{}
for F,aC in ipairs(v)do
if aC[4]<=k and#w==0 then
h,g=aq(h,g,i,m,p-be,aC[4])
be=be-aC[3]
else
w[#w+1]=aC
end
end
if#w==0 then return h,g,nil end
h,g=aq(h,g,i,m,p-be,k)
return h,g,w
end
local function cp(h,g,x,q,i,m,p,v)
local be=aJ(v)
for F,aC in ipairs(v)do
h,g=aq(h,g,i,m,p-be,aC[4])
be=be-aC[3]
end
local aX,w=Y(i,m,p,g)
local j=h+aX
if w>0 then j=j+1 end
if q>0 and x+q>j then j=x+q end
return j
end
return aJ,aP,cp
`

const windowValue = `local an,F,bj=s'block-value'
local function cy(a)
local f,K=0,a
if#a~=21 then f,K=an(a)end
if#K==21 then
local C,u,M,J,y=ac('>I3I4I7BI6',K)
y=J%16*281474976710656+y
if C>=10485760 and C<12582912 and y>0 then
return(C-10485760)*4294967296+u,M,y,math.floor(J/16),f
end
end
if K==a then f,K=an(a)end
return nil,nil,nil,nil,K==''and f or 0
end
local function dv(n,M,y,J,f)
local u,cB=n%4294967296,y%281474976710656
local ew=J*16+(y-cB)/281474976710656
local a=pack('>I3I4I7BI6',10485760+(n-u)/4294967296,u,M,ew,cB)
if f>0 then return bj(a,f)end
return a
end
local function bx(n,y,J)
if J>2 then return n+y end
return n+math.ceil(y/(J==2 and 4 or J==1 and 16 or 64))
end
return cy,dv,bx
`

const counterValue = `local an,F,bj=s'block-value'
local function cw(a)
local f,K=0,a
if#a~=28 then f,K=an(a)end
if#K==28 then
local C,u,Q,S,aA,y=ac('>I3I4I7I7BI6',K)
y=aA%16*281474976710656+y
if C>=12582912 and C<14680064 and y>0 then
return(C-12582912)*4294967296+u,Q,S,y,math.floor(aA/16),f
end
end
if K==a then f,K=an(a)end
return nil,nil,nil,nil,nil,K==''and f or 0
end
local function de(n,Q,S,y,aA,f)
local u,cB=n%4294967296,y%281474976710656
local ew=aA*16+(y-cB)/281474976710656
local a=pack('>I3I4I7I7BI6',12582912+(n-u)/4294967296,u,Q,S,ew,cB)
if f>0 then return bj(a,f)end
return a
end
return cw,de
`

const recordValue = `local eB,dx,eC=1099511627776,549755813888,4503599627370496
local function cx(a)
local by,G=a and string.byte(a),a and#a
if not by or by<8 or by>15 or G<13 then return nil end
local bu=by%2
local aW,W=by%4>1,by>11
local at=aW and'I7'or'I5'
local l,z,A=ac('>I7'..at,a,2)
local bZ='>I4'..at..at
if W then bZ=bZ..at..at end
local fq=4+(W and 4 or 2)*(aW and 7 or 5)
if(G-A+1)%fq>0 then return nil end
local I={}
for B=A,G,fq do
local ay,t,af,al,cd=ac(bZ,a,B)
if not W then al,cd=t,0 end
if af>0 then af=l+af-(aW and eC or dx)end
I[#I+1]={ay,t,al,cd,af}
end
return l,l+z,bu,I
end
local function dn(l,j,bu,I)
local aW,W=j-l>=eB,false
for F,N in ipairs(I)do
local t,al,cd,af=N[2],N[3],N[4],N[5]
if al~=t or cd>0 then W=true end
if math.max(t,al,cd)>=eB or af~=0 and(af<=l-dx or af>=l+dx)then aW=true end
end
local at=aW and'I7'or'I5'
local bZ='>I4'..at..at
local a=pack('>BI7'..at,8+bu+(aW and 2 or 0)+(W and 4 or 0),l,j-l)
for F,N in ipairs(I)do
local af=N[5]
if af~=0 then af=af-l+(aW and eC or dx)end
a=a..pack(bZ,N[1],N[2],af)
if W then a=a..pack('>'..at..at,N[3],N[4])end
end
return a
end
return cx,dn
`

const drop = `local E,remove,ap=...
local F,bi=s'block-value'
return function(b,f)
if f>r then return E(b,bi(f),f)end
if ap>0 then return E(b,bi(1),r)end
remove(b)
end
`

const bucketChange = `local T,E,ah=...
local ce,cX=s'bucket-value'
local Y,aq,aG,bs,bG=s'bucket-flow'
local aJ,aP,cp=s('bucket-leases',Y,aq)
local function cj(b,i,m,p,aH,aw,gk,eu)
local k,f=r,0
local a=T(b)
local h,g,x,q,v,aB
if a then
local ag,aa,am
h,g,x,q,ag,aa,am,f,v=ce(a,0)
if f==9000000000000000 then return true end
if h and(ag~=i or aa~=m or am~=p)then
local dU=s('bucket-adopt',Y,aq,aG,bs,bG,aJ,aP)
h,g,x,q,v=dU(h,g,x,q,ag,aa,am,i,m,p,v)
aB=true
end
if h and x>r then k=x end
end
if v then
aB=aB or gk
h,g,v=aP(h,g,i,m,p,v,k)
end
local A,dC,aL,u=h,g,q,k-aH
if not h then
A,dC,aL=u,aw,0
elseif h<u or(h==u and g<=aw)then
A,dC=u,aw
if q>0 and k>=x+q then aL=0 end
end
local aQ,z,cR=eu(A,dC,k,v)
if not aQ then
if not aB then return end
if not h then return ah(b,f)end
else
h,g,q=A,dC,aL
local ar,ct=k+aH,0
if aw>0 then ar,ct=ar-1,i-aw end
local bz=bG(i,m,p,k)
if ar>bz or(ar==bz and ct>0)then ar,ct=bz,0 end
if h>ar or(h==ar and g>ct)then ar,ct=h,g end
local aj=g-aQ*cR
local w=aj%i
h,g,x=h-aQ*z+(aj-w)/i,w,k
if aQ<0 and(h>ar or(h==ar and g>ct))then h,g=ar,ct end
if v then h,g=aq(h,g,i,m,p-aJ(v),k)end
end
local j=h+aH
if g>aw then j=j+1 end
if q>0 and x+q>j then j=x+q end
if v then
j=cp(h,g,x,q,i,m,p,v)
elseif j<=k then
return ah(b,f)
end
if f>j then j=f end
E(b,cX(h,g,x,q,i,m,p,f,v),j)
end
return cj,Y,aG,bs
`

const bucketAdopt = `local Y,aq,aG,bs,bG,aJ,aP=...
local function dU(h,g,x,q,ag,aa,am,i,m,p,v)
local k=r
if x>r then k=x end
if v then
h,g,v=aP(h,g,ag,aa,am,v,k)
end
local eO,ef=Y(ag,aa,am,0)
local bm,fG=Y(ag,aa,am,g)
local f=h+bm
if fG>0 then f=f+1 end
if q>0 and x+q>f then f=x+q end
if f<=k then return nil end
local dG=eO
if ef>0 then dG=eO+1 end
h,g=aq(h,g,ag,aa,am,k)
local df=0
if h>k or(h==k and g>0)then
local ch=aa*1000000
local dt=ch%ag
df=math.min(9007199256,math.floor((h-k+1)/((ch-dt)/ag+dt/ag))+1)
local E,fY=bs(ag,aa,df)
h,g=h-E,g-fY
if g<0 then h,g=h-1,g+ag end
end
local bB,I
bB,h,g,I=aG(h,g,ag,aa,k)
local N=(k-h)*ag-g-I*aa
local ap=0
if df==0 and bB>=p then
bB=p
elseif N>0 then
local ca=m%131072
local bI=N*((m-ca)/131072)
local cY=(bI%aa)*131072+N*ca
ap=(bI-bI%aa)/aa*131072+(cY-cY%aa)/aa
end
local z,cR=Y(i,m,bB,0)
local dV=cR+ap
if q>dG then dG=q end
h,g=k-z-(dV+(-dV)%i)/i,(-dV)%i
if df>0 then
local fS,fT=bs(i,m,df)
h,g=h+fS,g+fT
if g>=i then h,g=h+1,g-i end
end
local bz=bG(i,m,p,k)
if h>bz or(h==bz and g>0)then h,g=bz,0 end
if v then
h,g=aq(h,g,i,m,p-aJ(v),k)
end
return h,g,k,dG,v
end
return dU
`

const windowChange = `local T,E,ah=...
local cy,dv,bx=s'window-value'
local cU,cW,dm,du=s('window-adopt',bx)
return function(b,e,fA)
local ai=d[e+2]
local f=0
local a=T(b)
local n,M,z,J,aB
if a then
local bv
n,M,z,J,f=cy(a)
if f==9000000000000000 then return true end
bv=n
if n then n,M,z,J,aB=cU(n,M,z,J,e)end
if bv and not n then ah(b,f)end
end
local H,aW,cC,az=n,z,J,M
if not(n and r<n)then
H,aW,cC=cW(n,z,J,e)
az=0
end
local ao,aE,P
ao,aE,P,aW,cC=dm(H,az,aW,cC,e)
local ak=fA(P,ao)
if ak~=0 then
az,aB=aE+P-ak,true
if ak>0 and az==0 and cC<4 then return ah(b,f)end
n,M,z,J=H,az,aW,du(cC,az,ai)
end
if not aB then return end
E(b,dv(n,M,z,J,f),math.max(bx(n,z,J),f))
end
`

const windowAdopt = `local bx=...
local function eN(e,k)
local D=d[e+3]
if d[e+4]==1 then return k+D end
local dP=k-d[e+8]
return dP-dP%D+D+d[e+8]
end
local function cU(n,M,y,J,e)
local D=d[e+3]
if y==D and J<5 then return n,M,y,J,false end
if r>=n then
if r>=bx(n,y,J)then return nil end
return n,M,y,J,false
end
if J==6 then
if D<=y then return n,M,y,J,false end
return n,9007199254740991,D,4,true
end
if y==D then return n,M,y,4,true end
if D<y and J>=4 then return n,M,y,J,false end
local H=eN(e,r)
if D>y and d[e+4]==1 then
H=n-y+D
elseif n>H then
H=n
end
return H,M,math.max(y,D),4,true
end
local function cW(n,y,J,e)
local D,ax=d[e+3],eN(e,r)
if not n or r>=bx(n,y,J)then return ax,D,0 end
if D>y then return math.max(ax,n+y),D,4 end
if D<y and J<5 then return n+y,y,5 end
if d[e+4]~=1 and ax-D<n then ax=ax+D end
return ax,D,0
end
local function dm(n,M,y,J,e)
local ai,D,N=d[e+2],d[e+3],0
if J>=5 and D<y then
N=math.max(0,math.min(math.floor((r-n+y)/D),math.floor(y/D)-1))
end
local ao,aE=n-y+N*D,N*ai
local P=math.max(0,M-aE)
if J==6 or J==5 and aE>9007199254740991-2*ai then return ao,0,P,n-ao,6 end
return ao,aE,P,y,J
end
local function du(J,M,ai)
if J>=4 then return J end
if M*4>ai then return 3 end
return M*16>ai and 2 or M*64>ai and 1 or 0
end
return cU,cW,dm,du
`

const counterChange = `local T,E,ah=...
local cw,de=s'counter-value'
local cT,cQ,dr=s'counter-adopt'
return function(b,e,fB)
local D=d[e+3]
local f=0
local a=T(b)
local n,Q,S,z,aA,aB
if a then
local bv
n,Q,S,z,aA,f=cw(a)
if f==9000000000000000 then return true end
bv=n
if n then
n,Q,S,z,aA,aB=cT(n,Q,S,z,aA,e)
end
if bv and not n then ah(b,f)end
end
local aL=n and r<n
local bl,fa,el=cQ(n,Q,S,D)
if not aL then z,aA=D,0 end
local cK,dk=fB(bl,fa,el,z,dr(bl,el,z,e))
if cK~=0 or dk~=0 then
n,Q,S,aB=bl,fa-cK,el-dk,true
if Q+S==0 then return ah(b,f)end
end
if not aB then return end
local j=n
if Q>0 then j=n+z end
E(b,de(n,Q,S,z,aA,f),math.max(j,f))
end
`

const counterAdopt = `local function cQ(n,Q,S,D)
if n and r<n then return n,Q,S end
if not n or r>=n+D then return r-r%D+D,0,0 end
return n+D,0,Q
end
local function cT(n,Q,S,y,aA,e)
local D=d[e+3]
if y==D then
if aA==0 or r>=n then return n,Q,S,y,aA,false end
return n,Q,S,y,0,true
end
if y>D and r<n then return n,Q,S,y,aA,false end
n,Q,S=cQ(n,Q,S,y)
if y>D and aA==0 then
if S==0 then return nil end
return n,Q,S,y,1,true
end
n=n-y+D
if r>=n or Q+S==0 then return nil end
return n,Q,S,D,0,true
end
local function dr(n,S,y,e)
if S==0 then return 0 end
local cN=d[e+4]
if y~=d[e+3]then
cN=1
while y/cN>1000000 do cN=cN*10 end
end
local dM=math.floor(y/cN)
local w=math.min(dM,math.ceil((n-r)/cN))
local bw=math.floor(S/1000000)
local fi=bw*w
local bT=math.floor(fi/dM)
local g=(fi-bT*dM)*1000000+(S-bw*1000000)*w
return bT*1000000+math.ceil(g/dM)
end
return cT,cQ,dr
`

const logChange = `local E,aF,ah=...
local R=s('log-value',E,aF)
local ci,cS,db=s('log-adopt',R)
local dp,eq=s('log-refund',R,ah,E)
local function cZ(b,e,bc)
local aZ=R.aI(b)
if aZ.f==9000000000000000 then return true end
local c=ci(aZ,e)
if aZ.bv and not c.bv then ah(b,c.f)end
local k,B,P=cS(c,e)
if not bc(c,k,B,P)and c.ed then R.dN(c)end
end
local function ck(c,e,B,k,ad)
R.aD(c,db(c,e,B,k,ad))
end
return cZ,ck,dp,eq,R
`

const logValue = `local E,aF=...
local an=s'block-value'
local ba,aS,bU,bV=47,14,64,4503599627370496
local function eY(b,f)
return{b=b,G=0,av=0,aE=0,l=0,aj=0,y=0,q=0,f=f,aZ=0,dz=true}
end
local function fR(b)
local L,c=KEYS[b],eY(b,0)
local a=redis.pcall('GETRANGE',L,0,ba+bU*aS-1)
if type(a)~='string'then return c end
local D=#a
if D==ba+bU*aS then D=call('STRLEN',L)end
if D<ba or string.byte(a)~=2 or(D-ba)%aS>0 then
local f,K=an(a)
if K==''then c.f=f end
return c
end
local F,f,y,q,aE,l,aj,av=ac('>BI7I7I7I7I7I7I4',a)
local aZ=(D-ba)/aS
if av>aZ or y<1 then return c end
c.bv,c.dz,c.aZ,c.G=true,false,aZ,aZ+1
c.f,c.y,c.q,c.aE,c.l,c.aj,c.av=f,y,q,aE,l,aj,av
c.en={[0]=string.sub(a,ba+1)}
return c
end
local function aU(c,o)
if o==c.G-1 then return c.l,c.aj end
if o==c.aZ then return c.fd,c.fe end
local fb=o%bU
local at=(o-fb)/bU
local dK=c.en[at]
if not dK then
local A=ba+at*bU*aS
dK=call('GETRANGE',KEYS[c.b],A,A+bU*aS-1)
c.en[at]=dK
end
local l,aj=ac('>I7I7',dK,fb*aS+1)
return l,aj
end
local function aN(c,o)
if o<c.av then return 0 end
local F,aj=aU(c,o)
return(aj-c.aE)%bV
end
local function bY(c,fM,A)
local u,C=A,c.G
while u<C do
local cs=math.floor((u+C)/2)
if aU(c,cs)>fM then C=cs else u=cs+1 end
end
return u
end
local function dg(c,aj,A)
local u,C=A,c.G
while u<C do
local cs=math.floor((u+C)/2)
if aN(c,cs)>=aj then C=cs else u=cs+1 end
end
return u
end
local function ck(c,aD)
local A=aD.A
c.ed,c.bv,c.y,c.q=true,true,aD.y,aD.q
if A==c.G then
c.dz,c.aZ,c.G,c.av,c.aE,c.l,c.aj=true,0,1,0,0,aD.k,aD.ad
return
end
if A>c.av then
local F,aE=aU(c,A-1)
c.aE,c.av=aE,A
end
if not aD.cI then
c.fd,c.fe,c.G=c.l,c.aj,c.G+1
end
c.l,c.aj=aD.k,(c.aj+aD.ad)%bV
end
local function eW(c,av)
return pack('>BI7I7I7I7I7I7I4',2,c.f,c.y,c.q,c.aE,c.l,c.aj,av)
end
local function eV(c)
local j=c.l+c.y
if c.q>c.y then j=c.l+c.q end
if c.f>j then j=c.f end
return j
end
local function gc(c)
local j=eV(c)
local W=c.G-1>c.aZ
local bb=''
if W and c.av<=c.aZ then bb=pack('>I7I7',c.fd,c.fe)end
local av=c.av
local bT=c.dz or c.aZ<=bU or av>c.G-av
if bT then av=0 end
local O=eW(c,av)
if bT then
local bX=''
if not c.dz then
if c.aZ<=bU then
bX=string.sub(c.en[0],c.av*aS+1)
else
bX=call('GETRANGE',KEYS[c.b],ba+c.av*aS,-1)
end
end
return E(c.b,O..bX..bb,j)
end
call('SETRANGE',KEYS[c.b],0,O)
if W then call('APPEND',KEYS[c.b],bb)end
aF(c.b,j)
end
return{
ba=ba,
aS=aS,
bV=bV,
fQ=eY,
aI=fR,
aU=aU,
aN=aN,
bY=bY,
dg=dg,
aD=ck,
O=eW,
j=eV,
dN=gc,
}
`

const logAdopt = `local R=...
local bY,aN=R.bY,R.aN
local ft=10000
local function ci(c,e)
local D=d[e+3]
if not c.bv or c.y==D then return c end
local q=c.y
if c.q>q then q=c.q end
if c.l+q<=r then
return R.fQ(c.b,c.f)
end
c.y,c.ed=D,true
if q>D then c.q=q else c.q=0 end
return c
end
local function cS(c,e)
local k=r
if c.l>r then k=c.l end
local B=bY(c,k-d[e+3],c.av)
return k,B,aN(c,c.G-1)-aN(c,B-1)
end
local function db(c,e,B,k,ad)
local A,q,ar=B,c.q,d[e+4]
if q>0 then A,ar=bY(c,k-q,c.av),ft end
local aL=c.G-A
local cI=aL>0 and c.l==k
if not cI and aL>=ar then
if A<B then A=A+1 else cI=true end
end
if aL==0 then q=0 end
return{A=A,k=k,cI=cI,ad=ad,y=d[e+3],q=q}
end
return ci,cS,db
`

const logRefund = `local R,ah,E=...
local aU,aN,ba,aS,bV=R.aU,R.aN,R.ba,R.aS,R.bV
local function fo(c,ao,az)
local cf,aj={},(c.aE+aN(c,ao-1))%bV
for o=ao,c.G-1 do
local g=aN(c,o)-aN(c,o-1)-(az[o]or 0)
if g>0 then
aj=(aj+g)%bV
cf[#cf+1]={(aU(c,o)),aj}
end
end
local bM=ao
if#cf==0 then
if ao==c.av then return ah(c.b,c.f)end
bM=ao-1
c.l,c.aj=aU(c,bM)
else
c.l,c.aj=unpack(cf[#cf])
end
local bX=''
if bM>c.av then bX=call('GETRANGE',KEYS[c.b],ba+c.av*aS,ba+bM*aS-1)end
for o=1,#cf-1 do bX=bX..pack('>I7I7',cf[o][1],cf[o][2])end
E(c.b,R.O(c,0)..bX,R.j(c))
end
local function ga(c,B,bd,ak,bg)
local w,ao,az=ak,c.G,{}
local function dR(o)
local N=aN(c,o)-aN(c,o-1)
if N>w then N=w end
az[o],w=N,w-N
end
if bg<0 then
while ao>B and w>0 do
ao=ao-1
dR(ao)
end
elseif bg>bd then
ao=R.bY(c,bg-1,B)
for o=ao,c.G-1 do dR(o)end
end
if w<ak then fo(c,ao,az)end
return ak-w
end
return ga,fo
`

const bucketDescriptor = `local i,m,p=d[e+1],d[e+2],d[e+3]
local aH,aw,ad,cF=d[e+4],d[e+5],d[e+6],d[e+7]
if d[e]==0 then
local I=aH*m
cF=I%i
ad=(I-cF)/i
I=p*m
aw=-I%i
aH=(I+aw)/i
end
`

const bucket = `local T,a=s'bucket-value'
local Y,aq,aG,bs,bG=s'bucket-flow'
local aJ,aP,j=s('bucket-leases',Y,aq)
local cD=s('bucket-adopt',Y,aq,aG,bs,bG,aJ,aP)
return{
T=T,
a=a,
Y=Y,
aq=aq,
aG=aG,
bG=bG,
aJ=aJ,
aP=aP,
j=j,
cD=cD,
}
`

const bucketStep = `local k,f,U=r,0,0
local h,g,x,q,v,aB,bL,j
if a then
local G=#a
local C,u,V,ag,aa,am,H
if G==12 then
C,u,V,ag,am=ac('>I3I4I3BB',a)
g,q,aa,am=0,0,1,am*1000000
elseif G==28 then
C,u,g,V,ag,aa,am=ac('>I3I4I3I5I3I5I5',a)
q=0
elseif G==49 then
C,u,g,H,q,ag,aa,am=ac('>I3I4I7I7I7I7I7I7',a)
end
local dq=ag==i and aa==m and am==p and(not H or H<=9007199254740991 and q<=3200000000000000)
if dq and C>=6291456 and C<10485504 and g<i then
h=(C-8388608)*4294967296+u
x=H or h+V
else
bA=bA or et(r,pack,ac)
h,g,x,q,ag,aa,am,f,v=bA.T(a,0)
end
if h then
if ag~=i or aa~=m or am~=p then
h,g,x,q,v=bA.cD(h,g,x,q,ag,aa,am,i,m,p,v)
aB=h
end
if h and x>r then k=x end
if v then
h,g,v=bA.aP(h,g,i,m,p,v,k)
end
end
end
local bd=k-aH
if not h then
h,g,q=bd,aw,0
elseif h<bd or(h==bd and g<=aw)then
h,g=bd,aw
if q>0 and k>=x+q then q=0 end
end
local aI,bz=aR,k
if f>r then aI=0 end
if bM and dW<=p-(v and bA.aJ(v)or 0)then bz=k+bM end
while U<aI do
local di,w=h+ad,g+cF
if w>=i then di,w=di+1,w-i end
if di>bz or(di==bz and w>0)then break end
h,g,U=di,w,U+1
end
if U>0 or aB then
j=h+aH
if g>aw then j=j+1 end
local V,u=k-h,h%4294967296
if f>0 or v then
bA=bA or et(r,pack,ac)
bL=bA.a(h,g,k,q,i,m,p,f,v)
if v then
j=bA.j(h,g,k,q,i,m,p,v)
elseif q>0 and k+q>j then
j=k+q
end
if f>j then j=f end
elseif q>0 or V<0 or V>=1099511627776 or i>=16777216 or p>=1099511627776 then
bL=pack('>I3I4I7I7I7I7I7I7',8388608+(h-u)/4294967296,u,g,k,q,i,m,p)
if q>0 and k+q>j then j=k+q end
elseif m==1 and g==0 and V<16777216 and i<256 and p<256000000 and p%1000000==0 then
bL=pack('>I3I4I3BB',8388608+(h-u)/4294967296,u,V,i,p/1000000)
else
bL=pack('>I3I4I3I5I3I5I5',8388608+(h-u)/4294967296,u,g,V,i,m,p)
end
end
`

const reply = `local eA,aK=0,#KEYS
local aV={}
for b=1,aK do
as[b]=as[b]or''
aV[b]=#as[b]
end
for N=1,#cm do aV[aK+N]=cm[N]end
for o=1,#aV do
if aV[o]>eA then eA=aV[o]end
end
local O
if eA<256 and#aV<=2000 then
O=string.char(1,unpack(aV))
else
for o=1,#aV do aV[o]=pack('>I4',aV[o])end
O=string.char(4)..table.concat(aV)
end
for o=1,#aY do aY[o]=pack('>I7',aY[o])end
return O..table.concat(as,'',1,aK)..table.concat(aY)..pack('>I7',r)
`

const window = `local cy,dv,bx=s'window-value'
local cU,cW,dm,du=s('window-adopt',bx)
return function(a,e,aR)
local ad,ai,fk=d[e+1],d[e+2],d[e+5]
local f,U=0,0
local n,M,z,J,aB
if a then
n,M,z,J,f=cy(a)
if n then n,M,z,J,aB=cU(n,M,z,J,e)end
end
if not(n and r<n)then
n,z,J=cW(n,z,J,e)
M=0
end
local ao,aE,P,aW,cC=dm(n,M,z,J,e)
local dB,ar=r-ao,ai
if fk>0 and dB<fk then
if dB<0 then dB=0 end
local dD=math.floor(dB*d[e+6]/d[e+7])
if dD<1000000 then dD=1000000 end
if dD<ar then ar=dD end
end
if f>r then aR=0 end
while U<aR and P+ad<=ar do
P,U=P+ad,U+1
end
if U>0 then
M,z=aE+P,aW
J=du(cC,M,ai)
elseif not aB then
return 0
end
local j=bx(n,z,J)
if f>j then j=f end
return U,dv(n,M,z,J,f),j
end
`

const counter = `local cw,de=s'counter-value'
local cT,cQ,dr=s'counter-adopt'
return function(a,e,aR)
local ad,ai,D=d[e+1],d[e+2],d[e+3]
local f,U,S,z,aA=0,0,0,D,0
local n,Q,aB
if a then
n,Q,S,z,aA,f=cw(a)
if n then
n,Q,S,z,aA,aB=cT(n,Q,S,z,aA,e)
end
end
if not(n and r<n)then
n,Q,S=cQ(n,Q,S,D)
z,aA=D,0
end
local au=ai-dr(n,S,z,e)
if f>r then aR=0 end
while U<aR and Q+ad<=au do
Q,U=Q+ad,U+1
end
if U==0 and not aB then return 0 end
local j=n
if Q>0 then j=n+z end
if f>j then j=f end
return U,de(n,Q,S,z,aA,f),j
end
`

const record = `local cx,dn=s'record-value'
local an=s'block-value'
return function(a,e,aR,F,bQ)
local F,f=cx(a)
if aR==0 or f and r<f+60000000 then return 0 end
if a and an(a)>r then return 0 end
local M,I=d[e+3],{}
for o=1,M do
local ay,t=d[e+2+2*o],d[e+3+2*o]
I[o]={ay,t,t,0,bQ and bQ[#bQ-M+o]or 0}
end
local j=r+d[e+1]
return 1,dn(r,j,d[e+2],I),j+60000000
end
`

const slots = `local an,bi,bj=s'block-value'
local dT=4000
local function cv(a,A)
local C,u=ac('>I3I4',a,A)
return(C-2097152)*4294967296+u
end
local function bq(at)
local u=at%4294967296
return pack('>I3I4',2097152+(at-u)/4294967296,u)
end
local function ep(a)
local f,K=0,a or''
if a then f,K=an(a)end
local G=#K
if string.byte(K)~=3 or G%35~=22 then
return nil,nil,'',0,r,K==''and f or 0
end
local x,H=cv(K,9),cv(K,16)
local k,A=r,23
if x>r then k=x end
while A<G and cv(K,A+21)<=k do A=A+35 end
local P=0
for cb=A,G,35 do P=P+cv(K,cb+14)end
return x,H,string.sub(K,A),P,k,f
end
local function ei(t,dh)
local A=string.find(t,dh,1,true)
while A and A%35~=1 do A=string.find(t,dh,A+1,true)end
return A
end
local function bb(t,cb,f)
local A=#t+1
while A>1 and cv(t,A-14)>f do A=A-35 end
return string.sub(t,1,A-1)..cb..string.sub(t,A)
end
local function es(k,H,t,f)
local j=H+1
if t~=''then j=math.max(j,cv(t,#t-13))end
local a='\\3'..pack('>I7',j)..bq(k)..bq(H)..t
if f>0 then a=bj(a,f)end
return a,math.max(j,f),j
end
local function dR(a,e,aR,bW)
local ad,ai=(bW or 0)+d[e+1],d[e+2]
local U,bL,j=0,nil,nil
while U<aR do
local x,H,t,P,k,f=ep(a)
if f>r or ad>ai then break end
local dh=bq(d[e+5])..bq(d[e+6])
if d[e+4]==0 or not ei(t,dh)then
if P+ad>ai or#t>=dT*35 then break end
H=x and math.max(k,H+1)or k
local n=k+d[e+3]
t=bb(t,dh..bq(ad)..bq(n)..bq(H),n)
a,j=es(k,H,t,f)
bL=a
end
U=U+1
end
return U,bL,j
end
local function cA(a,bI,dl)
local x,H,t,F,k,f=ep(a)
local A=x and ei(t,bq(bI)..bq(dl))
if not A then return nil end
t=string.sub(t,1,A-1)..string.sub(t,A+35)
local w,j,bH=es(k,H,t,f)
if bH<=k then return false,f end
return w,j
end
local function dL(a,bI,dl,aX)
local x,H,t,F,k,f=ep(a)
local A=x and ei(t,bq(bI)..bq(dl))
if not A or k+aX<=cv(t,A+21)then return nil end
local cb=string.sub(t,A,A+20)..bq(k+aX)..string.sub(t,A+28,A+34)
t=bb(string.sub(t,1,A-1)..string.sub(t,A+35),cb,k+aX)
return es(k,H,t,f)
end
return dR,cA,dL
`

const log = `local R=...
local aU,aN,dg=R.aU,R.aN,R.dg
local ci,cS,db=s('log-adopt',R)
local function eM(c,e,B,H,dj,P,ad)
local o=dg(c,aN(c,B-1)+P+ad-d[e+2],B)
if o<H then dj=aU(c,o)end
return dj+d[e+3]
end
local function dS(c,e,B,H,dj,P)
local ai=d[e+2]
local cO,cP=0,0
if ai>P then cO=math.floor((ai-P)/1000000)end
if P>0 then cP=dj+d[e+3]-r end
local W=(cO+1)*1000000
if W>ai then return cO,cP,cP end
return cO,eM(c,e,B,H,dj,P,W)-r,cP
end
local function ea(c,e,ad)
local ai=d[e+2]
local k,B,P=cS(c,e)
if ad>ai-P then
if ad>ai then return 2,0,dS(c,e,B,c.G,c.l,P)end
return 1,eM(c,e,B,c.G,k,P,ad)-r,dS(c,e,B,c.G,c.l,P)
end
local aD=db(c,e,B,k,ad)
local H=c.G
if aD.cI then H=H-1 end
local cO,gb,cP=dS(c,e,B,H,k,P+ad)
return 0,0,cO,gb,cP,aD
end
local function ez(c,e)
local F,B,P=cS(c,e)
return dS(c,e,B,c.G,c.l,P)
end
return ci,ea,ez
`

const holdChange = `local dA=...
local T,E,aF,remove,ap=s'state'
local ah=s('drop',E,remove,ap)
local an=s'block-value'
local cx,dn=s'record-value'
local dy=9000000000000000
local cj,Y,aG,bs
local cA,dL
local function gg(h,g,k,v,i,m,p,t,ab,af)
if ab>t then
local au=0
if h<k or(h==k and g==0)then
au=p+aG(h,g,i,m,k)
else
local z,w=Y(i,m,p,0)
z,w=h-z,g-w
if w<0 then z,w=z-1,w+i end
au=aG(z,w,i,m,k)
end
local W=math.min(ab-t,au)
if W<=0 then return t end
local z,w=Y(i,m,W,0)
return t+W,-1,z,w
end
local eR,eS=h,g
if h<k then eR,eS=k,0 end
local au,w=Y(i,m,p,0)
au,w=au-(eR-af),w-eS
if w<0 then au,w=au-1,w+i end
if ab==t or au<0 or(au==0 and w==0)then return ab end
local I=(t-ab)%1000000
local bE,cV=bs(i,m,(t-ab-I)/1000000)
local W
W,cV=Y(i,m,I,cV)
bE=bE+W
if bE<au or(bE==au and cV<=w)then
if t-ab>2*p then bE,cV=Y(i,m,2*p,0)end
return ab,1,bE,cV
end
if v then
local bT
if w>0 then bT=aG(0,i-w,i,m,au+1)else bT=aG(0,0,i,m,au)end
au,w=Y(i,m,bT,0)
end
return ab,1,au,w
end
local function dO(b,e,t,ab,af)
if not cj then cj,Y,aG,bs=s('bucket-change',T,E,ah)end
local i,m,p,aH,aw=dA(e)
local al
local function eu(h,g,k,v)
local aQ,z,cR
al,aQ,z,cR=gg(h,g,k,v,i,m,p,t,ab,af)
return aQ,z,cR
end
cj(b,i,m,p,aH,aw,true,eu)
return al
end
local function gh(b,e,t,ab,F,l)
local al
s('window-change',T,E,ah)(b,e,function(P,ao)
local ak=math.min(math.max(0,t-ab),P)
if l<ao then ak=0 end
ak=ak-math.max(0,math.min(ab-t,2*d[e+2]-P))
al=t-ak
return ak
end)
return al
end
local function gd(b,e,t,ab,F,l)
local al
s('counter-change',T,E,ah)(b,e,function(bl,Q,S,z,er)
local eQ=l>=bl-z
local ej=not eQ and l>=bl-2*z
local ak
if ab<t then
ak=math.min(t-ab,eQ and Q or ej and S or 0)
else
local ai=d[e+2]
local au=2*ai-Q-er
if ej then au=math.min(au,2*ai-S)end
ak=-math.max(0,math.min(ab-t,au))
end
al=t-ak
if ej then return 0,ak end
return ak,0
end)
return al
end
local function ge(b,e,t,ab,F,l)
local cZ,ck,dp,eq,R=s('log-change',E,aF,ah)
local al
cZ(b,e,function(c,k,B,P)
al=t
local bd=k-d[e+3]
if ab<t then
local az=dp(c,B,bd,t-ab,l)
al=t-az
return az>0
end
local W=math.min(ab-t,2*d[e+2]-P)
if W<=0 then return end
al=t+W
local o=R.bY(c,l-1,B)
if l<=bd or o==c.G then return ck(c,e,B,k,W)end
eq(c,o,{[o]=-W})
return true
end)
return al
end
local function eH(b,fD,...)
local a=T(b)
if a and an(a)==dy then return true end
local w,j=fD(a,...)
if w then E(b,w,j)elseif w==false then ah(b,j)end
end
local aO={[0]=dO,gh,gd,ge,dO}
local function fN(b,e)
if d[e]==3 then
local F,F,F,F,R=s('log-change',E,aF,ah)
return R.aI(b).f==dy
end
local a=T(b)
return a and an(a)==dy
end
local function eG(N,B,Z)
for call=1,Z do
if d[B+3*call-3]==N[1]then return B+3*call-3,call end
end
end
local function gf(L,B,Z,I,l,gl)
for F,N in ipairs(I)do
local o,call=eG(N,B,Z)
if o then
local e,ab=d[o+1],d[o+2]
if d[e]==7 then
if eH(L+call,cA,d[B-2],d[B-1])then return true end
N[3]=0
elseif not gl then
local al=aO[d[e]](L+call,e,N[2],ab,N[5],l)
if not al then return true end
N[3],N[4]=al,math.max(0,ab-al)
end
end
end
end
local function fV(L,B,Z,I,aX)
for call=1,Z do
local ay,e=d[B+3*call-3],d[B+3*call-2]
for F,N in ipairs(I)do
if N[1]==ay and d[e]==7 then
if eH(L+call,dL,d[B-2],d[B-1],aX)then return true end
break
end
end
end
end
local function fK(L,B,Z)
if Z<2 then return false end
for call=1,Z do
if fN(L+call,d[B+3*call-2])then return true end
end
end
return function(L,br,B,Z)
local a=T(L)
if a and an(a)==dy then return 5,0,{}end
local l,j,bu,I=cx(a)
if not l or r>=j+60000000 then return 0,0,{}end
if bu==1 then return 4,j,I end
if r>=j then
for F,N in ipairs(I)do
local o=eG(N,B,Z)
if br==-1 and o then N[4]=math.max(0,d[o+2]-N[3])end
end
return 3,j,I
end
if fK(L,B,Z)then return 5,0,{}end
if not cA then
local F
F,cA,dL=s'slots'
end
local dQ=2
if br<0 then
if gf(L,B,Z,I,l,br==-2)then return 5,0,{}end
bu=1
else
if fV(L,B,Z,I,br)then return 5,0,{}end
dQ,j=1,math.max(j,r+br)
end
E(L,dn(l,j,bu,I),j+60000000)
return dQ,j,I
end
`

export const adjustProgram: Program = {
  sha1: 'c22e574bb16f8d928036010ea05c2cf6b46ff0c9',
  source: () =>
    [
      ``,
      clock,
      `local function s(X,...)
if X=='state'then
`,
      state,
      `elseif X=='strings'then
`,
      strings,
      `elseif X=='packed-value'then
`,
      packedValue,
      `elseif X=='sweep'then
`,
      sweep,
      `elseif X=='block-value'then
`,
      blockValue,
      `elseif X=='state-until'then
`,
      stateUntil,
      `elseif X=='bucket-value'then
`,
      bucketValue,
      `elseif X=='bucket-flow'then
`,
      bucketFlow,
      `elseif X=='bucket-leases'then
`,
      bucketLeases,
      `elseif X=='window-value'then
`,
      windowValue,
      `elseif X=='counter-value'then
`,
      counterValue,
      `elseif X=='record-value'then
`,
      recordValue,
      `elseif X=='drop'then
`,
      drop,
      `elseif X=='bucket-change'then
`,
      bucketChange,
      `elseif X=='bucket-adopt'then
`,
      bucketAdopt,
      `elseif X=='window-change'then
`,
      windowChange,
      `elseif X=='window-adopt'then
`,
      windowAdopt,
      `elseif X=='counter-change'then
`,
      counterChange,
      `elseif X=='counter-adopt'then
`,
      counterAdopt,
      `elseif X=='log-change'then
`,
      logChange,
      `elseif X=='log-value'then
`,
      logValue,
      `elseif X=='log-adopt'then
`,
      logAdopt,
      `elseif X=='log-refund'then
`,
      logRefund,
      `end
end
local bg=d[2]
local T,E,aF,remove,ap=s'state'
local ah=s('drop',E,remove,ap)
local function eE(b,e,aQ)
local cj=s('bucket-change',T,E,ah)
`,
      bucketDescriptor,
      `return cj(b,i,m,p,aH,aw,false,function(F,F,k)
if aQ>0 and bg>=0 and bg<=k-aH then return nil end
return aQ,ad,cF
end)
end
local function fy(b,e,aQ)
local ak,ai=d[e+1],d[e+2]
return s('window-change',T,E,ah)(b,e,function(P,ao)
if aQ<0 then return-math.max(0,math.min(2*ai-P,ak))end
if bg>=0 and bg<ao then return 0 end
return math.min(ak,P)
end)
end
local function fv(b,e,aQ)
local ak,ai=d[e+1],d[e+2]
return s('counter-change',T,E,ah)(b,e,function(bl,Q,S,z,er)
if aQ<0 then return-math.max(0,math.min(2*ai-Q-er,ak)),0 end
if bg>=0 and bg<bl-2*z then return 0,0 end
local ao=bl-z
local cK,dk=math.min(Q,ak),0
if bg>=0 and bg<ao then cK=0 end
if bg<ao then dk=math.min(S,ak-cK)end
return cK,dk
end)
end
local function fw(b,e,aQ)
local cZ,ck,dp=s('log-change',E,aF,ah)
local ak=d[e+1]
return cZ(b,e,function(c,k,B,P)
if aQ>0 then return dp(c,B,k-d[e+3],ak,bg)>0 end
local bb=math.min(ak,2*d[e+2]-P)
if bb>0 then ck(c,e,B,k,bb)end
end)
end
local function fx(b)
local an=s'block-value'
local a=T(b)
return a and an(a)==9000000000000000
end
local aO={[0]=eE,fy,fv,fw,eE,[7]=fx}
local bC={}
for o=1,d[3]do
local e=d[2+2*o]
if aO[d[e]](o,e,d[3+2*o])then bC[#bC+1]=o end
end
return bC
`,
    ].join(''),
}

export const blockProgram: Program = {
  sha1: '36b951bc0a2c8cd02277760651409ee377db6de5',
  source: () =>
    [
      ``,
      clock,
      `local function s(X,...)
if X=='state'then
`,
      state,
      `elseif X=='strings'then
`,
      strings,
      `elseif X=='packed-value'then
`,
      packedValue,
      `elseif X=='sweep'then
`,
      sweep,
      `elseif X=='block-value'then
`,
      blockValue,
      `elseif X=='state-until'then
`,
      stateUntil,
      `elseif X=='bucket-value'then
`,
      bucketValue,
      `elseif X=='bucket-flow'then
`,
      bucketFlow,
      `elseif X=='bucket-leases'then
`,
      bucketLeases,
      `elseif X=='window-value'then
`,
      windowValue,
      `elseif X=='counter-value'then
`,
      counterValue,
      `elseif X=='record-value'then
`,
      recordValue,
      `elseif X=='log-value'then
`,
      logValue,
      `end
end
local T,E,aF,remove,F,cr=s'state'
local an,bi=s'block-value'
local ev=s'state-until'
local function gn(a)
local ce,cX=s'bucket-value'
local Y,aq=s'bucket-flow'
local aJ,aP,cp=s('bucket-leases',Y,aq)
local h,g,x,q,i,m,p,F,v=ce(a,0)
if not v then return nil,''end
local k=r
if x>r then k=x end
h,g,v=aP(h,g,i,m,p,v,k)
if not v then return nil,''end
h,g=aq(-math.huge,0,i,m,p-aJ(v),k)
a=cX(h,g,k,q,i,m,p,0,v)
return cp(h,g,k,q,i,m,p,v),a
end
local D=d[2]
local bC={}
local function fC(b)
local R=s('log-value',E,aF)
local c=R.aI(b)
if D<0 or not c.bv then return c.f,''end
c.f=0
if D>0 then c.f=r+D end
call('SETRANGE',KEYS[b],0,R.O(c,c.av))
aF(b,R.j(c))
end
for b=1,#KEYS do
local aM,a=cr and cr(b),nil
if aM then a=T(b)else a=redis.pcall('GETRANGE',KEYS[b],0,2047)end
if type(a)~='string'then a=''end
if#a==2048 and string.byte(a)~=2 then a=call('GET',KEYS[b])end
local f,K,j=0,a,nil
if string.byte(a)==2 then
f,K=fC(b)
elseif a~=''then
f,K=an(a)
j=ev(a)
if f==9000000000000000 then
f=0
if D>=0 then bC[#bC+1],K=b,nil end
elseif not j and K~=''then
f,K=0,''
end
end
if K then
if D<0 then
j,K=gn(K)
elseif D>0 then
f=r+D
else
f=0
end
if f>0 then
if K~=''then
E(b,bi(f)..K,math.max(f,j))
elseif f>r then
E(b,bi(f),f)
elseif aM then
call('HSET',KEYS[b],aM,bi(f))
else
call('SET',KEYS[b],bi(f),'KEEPTTL')
end
elseif K~=''then
E(b,K,j)
elseif a~=''or D<0 then
remove(b)
end
end
end
return bC
`,
    ].join(''),
}

export const bucketsProgram: Program = {
  sha1: 'bc440c58f87f8246336688965250f7fe4af9e439',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,ac,format=struct.pack,struct.unpack,string.format
local bN=call('TIME')
local r=bN[1]*1000000+bN[2]
local bA
local function et(r,pack,ac)
local function s(X,...)
if X=='bucket'then
`,
      bucket,
      `elseif X=='bucket-value'then
`,
      bucketValue,
      `elseif X=='block-value'then
`,
      blockValue,
      `elseif X=='bucket-flow'then
`,
      bucketFlow,
      `elseif X=='bucket-leases'then
`,
      bucketLeases,
      `elseif X=='bucket-adopt'then
`,
      bucketAdopt,
      `end
end
return s'bucket'
end
local i,m,p=ARGV[1]+0,ARGV[2]+0,ARGV[3]+0
local I=ARGV[4]*m
local cF=I%i
local ad=(I-cF)/i
I=p*m
local aw=-I%i
local aH=(I+aw)/i
local aK,fE,ap=#KEYS,#ARGV>5,ARGV[5]+0
local as=KEYS.ae or aK==1 and call('MGET',KEYS[1])or aK>1 and call('MGET',unpack(KEYS))or{}
local cm,aY,aR={},{},1
local bM,dW
for b=1,aK do
local a=as[b]
if fE then aR=ARGV[5+b]+0 end
`,
      bucketStep,
      `if bL then call('SET',KEYS[b],bL,'PXAT',format('%d',(j+ap)/1000+1))end
cm[b]=U
end
`,
      reply,
    ].join(''),
}

export const cellsProgram: Program = {
  sha1: 'd5e43c5098a77d3ee4c3a2ae637be9f82943d8e5',
  source: () =>
    [
      ``,
      clock,
      `local eK,ar=d[2],d[3]
local cc=call('INFO','server')..call('INFO','replication')
local bh=string.match(cc,'run_id:(%x+)')..'-'..string.match(cc,'master_replid:(%x+)')..'-'
local aT=call('GET',KEYS[1])
local bJ=aT and string.match(aT,'^%S+')or''
if string.sub(bJ,1,#bh)~=bh then bJ=bh end
local bn={}
local eU=call('ZRANGEBYSCORE',KEYS[5],math.floor(eK/64),'+inf','LIMIT',0,ar+1)
for o=1,#eU do
local bP,fz=KEYS[5]..':'..eU[o],'('..string.format('%.0f',eK)
local W=call('ZRANGEBYSCORE',bP,fz,'+inf','LIMIT',0,ar-#bn)
for ay=1,#W do bn[#bn+1]=W[ay]end
if#bn==ar then break end
end
local ae={bJ,r,aT,aT and call('GET',KEYS[2]),(call('GET',KEYS[3])or 0)+0}
ae[6],ae[7]=#bn<ar and 1 or 0,call('HLEN',KEYS[4])
local bo=#bn>0 and call('HMGET',KEYS[4],unpack(bn))
for o=1,#bn do
if bo[o]then
ae[#ae+1]=bn[o]
ae[#ae+1]=bo[o]
end
end
return ae
`,
    ].join(''),
}

export const consumeProgram: Program = {
  sha1: '8c827a87c0db7d718becd794004423e5a17743e2',
  source: () =>
    [
      ``,
      clock,
      `local function s(X,...)
if X=='window'then
`,
      window,
      `elseif X=='window-value'then
`,
      windowValue,
      `elseif X=='block-value'then
`,
      blockValue,
      `elseif X=='window-adopt'then
`,
      windowAdopt,
      `elseif X=='counter'then
`,
      counter,
      `elseif X=='counter-value'then
`,
      counterValue,
      `elseif X=='counter-adopt'then
`,
      counterAdopt,
      `elseif X=='record'then
`,
      record,
      `elseif X=='record-value'then
`,
      recordValue,
      `elseif X=='slots'then
`,
      slots,
      `elseif X=='bucket'then
`,
      bucket,
      `elseif X=='bucket-value'then
`,
      bucketValue,
      `elseif X=='bucket-flow'then
`,
      bucketFlow,
      `elseif X=='bucket-leases'then
`,
      bucketLeases,
      `elseif X=='bucket-adopt'then
`,
      bucketAdopt,
      `elseif X=='state'then
`,
      state,
      `elseif X=='strings'then
`,
      strings,
      `elseif X=='packed-value'then
`,
      packedValue,
      `elseif X=='sweep'then
`,
      sweep,
      `elseif X=='state-until'then
`,
      stateUntil,
      `elseif X=='log-value'then
`,
      logValue,
      `elseif X=='log'then
`,
      log,
      `elseif X=='log-adopt'then
`,
      logAdopt,
      `end
end
local aO,R={},nil
local function dE(ds)
if ds==1 then
aO[1]=s'window'
elseif ds==2 then
aO[2]=s'counter'
elseif ds==6 then
aO[6]=s'record'
elseif ds==7 then
aO[7]=s'slots'
else
local bA
local function et()
return s'bucket'
end
local function bk(a,e,aR,bW)
`,
      bucketDescriptor,
      `local bM,dW
if d[e]==5 then
bM,dW=d[e+8],d[e+9]+(bW or 0)
end
`,
      bucketStep,
      `return U,bL,j,h
end
aO[0],aO[4],aO[5]=bk,bk,bk
end
return aO[ds]
end
local bR=d[3]
local T,E,aF
if ARGV[2]or cg~=0 or bR<#KEYS or bR>4000 then T,E,aF=s'state'end
local as={}
if KEYS.ae then
as=KEYS.ae
elseif ARGV[2]and ARGV[2]~=''then
for b=1,bR do as[b]=T(b)end
elseif bR>0 then
as=call('MGET',unpack(KEYS,1,math.min(bR,4000)))
for b=4001,bR do as[b]=T(b)end
end
local bm,j={},{}
local bS,G={},0
local dc,dY={},d[2]%2
for o=5+d[4]-(d[2]-dY)/2,4+d[4]do dc[d[o]]=true end
local cm={}
local function eD(l,Z,O,x)
for o=l,l+2*Z-2,2 do
local b,e=d[o],d[o+1]
if d[e]==3 then
bS[O+3],bS[O+4],bS[O+5]=R.gm(x[b],e)
O=O+5
end
end
end
local aV={}
local function fL(e)
local aX,t=d[e+1],d[e+5]
local cB=d[e+3]==1 and aX<1099511627776 and t<1099511627776
aV[e]=cB and pack('>BI7I5I4I5',8+d[e+2],r,aX,d[e+4],t)
return aV[e]
end
local function fZ(b,e,bt,bD)
local O=aV[bD]
if O==nil then O=fL(bD)end
if d[bD+3]~=1 or bm[bt]or as[bt]or dc[b]or dc[bt]then return end
local U,a,bH,af=(aO[d[e]]or dE(d[e]))(bm[b]or as[b],e,1)
if U==0 then return end
local dd=(af or 0)~=0 and af-r+549755813888 or 0
local bZ='>I5'
if not O or dd<0 or dd>=1099511627776 or(dd==0 and(af or 0)~=0)then
O=pack('>BI7I7I4I7',10+d[bD+2],r,d[bD+1],d[bD+4],d[bD+5])
dd,bZ=(af or 0)~=0 and af-r+4503599627370496 or 0,'>I7'
end
bm[b],j[b]=a,bH
bm[bt],j[bt]=O..pack(bZ,dd),r+d[bD+1]+60000000
return 1
end
local fu={[0]=true,true,true,[4]=true}
local function fJ(l,Z)
if Z==2 and d[d[l+3]]==6 and fu[d[d[l+1]]]then
local U=fZ(d[l],d[l+1],d[l+2],d[l+3])
if U then return U end
end
local aI=true
local aK,f,x,az,eI,bQ={},{},{},{},{},{}
local O=G
for o=l,l+2*Z-2,2 do
local b,e=d[o],d[o+1]
if d[e]==3 then
if not x[b]then x[b]=R.cD(R.fc(b),e)end
local c,ad=x[b],(az[b]or 0)+d[e+1]
az[b]=ad
local em
em,bS[G+2],bS[G+3],bS[G+4],bS[G+5],eI[b]=
R.fF(c,e,ad)
bS[G+1]=em
G=G+5
bQ[#bQ+1]=0
if em>0 or c.f>r then aI=false end
elseif aI then
local bW=d[e]~=7 and aK[b]or bm[b]or as[b]
local U,a,bH,af=
(aO[d[e]]or dE(d[e]))(bW,e,1,az[b],bQ)
bQ[#bQ+1]=af or 0
if U==0 then aI=false else aK[b],f[b]=a,bH end
if d[e]==5 then az[b]=(az[b]or 0)+d[e+9]end
if d[e]==7 then az[b]=(az[b]or 0)+d[e+1]end
end
end
if aI then
for o=l,l+2*Z-2,2 do
if dc[d[o]]and not as[d[o]]then return 0 end
end
if dY==0 then eD(l,Z,O,x)end
for b,a in pairs(aK)do bm[b],j[b]=a,f[b]end
for b,aD in pairs(eI)do R.aD(b,x[b],aD)end
return 1
end
eD(l,Z,O,x)
for o=l,l+2*Z-2,2 do
local b,e=d[o],d[o+1]
if d[e]~=3 then
local F,a,bH=(aO[d[e]]or dE(d[e]))(bm[b]or as[b],e,0)
if a then bm[b],j[b]=a,bH end
end
end
return 0
end
if bR<#KEYS then
local bp,aI=s('log-value',E,aF),{}
local ci,ea,ez=s('log',bp)
R={
fc=function(b)
if not aI[b]then aI[b]=bp.aI(b)end
return aI[b]
end,
cD=ci,
fF=ea,
gm=ez,
aD=function(b,c,aD)
aI[b]=c
bp.aD(c,aD)
end,
dN=function()
for F,c in pairs(aI)do
if c.ed then bp.dN(c)end
end
end,
}
for b=bR+1,#KEYS do
local c=R.fc(b)
as[b]=(c.bv or c.f>0)and c.f
end
end
local l,H=5+d[4],#d
while l<=H do
local Z=d[l]
local B,eL,e,aR=1,1,0,1
if Z==0 then e,B,eL,aR=d[l+1],d[l+2],d[l+3],d[l+4]end
for b=B,eL do
local U,a,bH
if Z==0 then
U,a,bH=(aO[d[e]]or dE(d[e]))(bm[b]or as[b],e,aR)
if dc[b]and not as[b]then
U=0
elseif a then
bm[b],j[b]=a,bH
end
else
U=fJ(l+1,Z)
end
cm[#cm+1]=U
end
l=l+5
if Z>0 then l=l-4+2*Z end
end
if dY==1 then
local H,fr
for b,a in pairs(bm)do
if E then
E(b,a,j[b])
else
if j[b]~=H then H,fr=j[b],string.format('%d',j[b]/1000+1)end
call('SET',KEYS[b],a,'PXAT',fr)
end
end
if R then R.dN()end
end
for b=bR+1,#KEYS do as[b]=as[b]and pack('>I7',as[b])end
local aY=bS
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
  sha1: '3a391a8343a2518cd4ef6f871b71b8f4cf00e146',
  source: () =>
    [
      `do
local call,KEYS,ARGV=redis.call,KEYS,ARGV
local sub,byte,ac=string.sub,string.byte,struct.unpack
local H=#ARGV
local ax=ARGV[H]+0
local eJ=ax<0
if eJ then ax=-ax end
local aT,dP=ARGV[ax+1],ARGV[ax+2]+0
local eh=#KEYS
local cz=eh-1
if eJ then
local cc=call('INFO','server')..call('INFO','replication')
local bh=string.match(cc,'run_id:(%x+)')..'-'..string.match(cc,'master_replid:(%x+)')..'-'
local bt=call('GET',KEYS[cz])
if bt and sub(bt,1,#bh)~=bh then call('DEL',KEYS[cz])end
if sub(aT,1,#bh)~=bh then return{0}end
end
local ae=call('MGET',unpack(KEYS,1,math.min(cz,4000)))
for L=4001,cz do ae[L]=call('MGET',KEYS[L])[1]end
if ae[cz]~=aT then return{0}end
local eo=#KEYS[cz]-5
local l,dX,bK,r=ax+4,0,nil,nil
while l<H do
local i,m,p=ARGV[l]+0,ARGV[l+1]+0,ARGV[l+2]+0
local bu,B,cE=ARGV[l+3]+0,ARGV[l+4]+0,ARGV[l+5]+0
l=l+6
local M=cE>0 and cE or-cE
local bn={}
for cL=0,M-1 do
local L=KEYS[B+cL]
local A=byte(L,eo)==123 and eo+5 or eo
bn[cL+1]=sub(L,i>0 and A or A+5)
end
local bp=call('HMGET',KEYS[eh],unpack(bn,1,math.min(M,4000)))
for ay=4001,M do bp[ay]=call('HGET',KEYS[eh],bn[ay])end
for cL=0,M-1 do
dX=dX+1
local bo,a,bc=bp[cL+1],ae[B+cL],cE>0 and ARGV[l+cL]or'0'
local bO
if bc=='0'then bO=not bo else bO=bo and sub(bo,1,#bc)==bc end
if bO and i>0 then
local O=a and byte(a)
if O and O>=224 then a=sub(a,8)end
local G=a and#a or 0
if G==0 then
if not r then
r=ARGV[ax+3]+0
if r==0 then
local bN=call('TIME')
r=bN[1]*1000000+bN[2]
end
end
bO=r>=bu
else
local C,u,V,x,dJ,dI,cJ,F
if G==12 then
C,u,V,dJ,cJ=ac('>I3I4I3BB',a)
dI,cJ=1,cJ*1000000
elseif G==28 then
C,u,F,V,dJ,dI,cJ=ac('>I3I4I3I5I3I5I5',a)
elseif G==49 then
C,u,F,x,F,dJ,dI,cJ=ac('>I3I4I7I7I7I7I7I7',a)
end
x=x or C and(C-8388608)*4294967296+u+V
bO=C and x>=dP and dJ==i and dI==m and cJ==p
end
end
if not bO then
bK=bK or{}
bK[#bK+1]=dX
end
end
if cE>0 then l=l+cE end
end
if bK then return bK end
for L=#KEYS,cz,-1 do KEYS[L]=nil end
for o=H,ax+1,-1 do ARGV[o]=nil end
KEYS.ae=ae
end
`,
    ].join(''),
}

export const holdsProgram: Program = {
  sha1: 'dada9da742e6af1fc475d40865693bb0d3cb6f59',
  source: () =>
    [
      ``,
      clock,
      `local function s(X,...)
if X=='state'then
`,
      state,
      `elseif X=='strings'then
`,
      strings,
      `elseif X=='packed-value'then
`,
      packedValue,
      `elseif X=='sweep'then
`,
      sweep,
      `elseif X=='block-value'then
`,
      blockValue,
      `elseif X=='state-until'then
`,
      stateUntil,
      `elseif X=='bucket-value'then
`,
      bucketValue,
      `elseif X=='bucket-flow'then
`,
      bucketFlow,
      `elseif X=='bucket-leases'then
`,
      bucketLeases,
      `elseif X=='window-value'then
`,
      windowValue,
      `elseif X=='counter-value'then
`,
      counterValue,
      `elseif X=='record-value'then
`,
      recordValue,
      `elseif X=='hold-change'then
`,
      holdChange,
      `elseif X=='drop'then
`,
      drop,
      `elseif X=='bucket-change'then
`,
      bucketChange,
      `elseif X=='bucket-adopt'then
`,
      bucketAdopt,
      `elseif X=='window-change'then
`,
      windowChange,
      `elseif X=='window-adopt'then
`,
      windowAdopt,
      `elseif X=='counter-change'then
`,
      counterChange,
      `elseif X=='counter-adopt'then
`,
      counterAdopt,
      `elseif X=='log-change'then
`,
      logChange,
      `elseif X=='log-value'then
`,
      logValue,
      `elseif X=='log-adopt'then
`,
      logAdopt,
      `elseif X=='log-refund'then
`,
      logRefund,
      `elseif X=='slots'then
`,
      slots,
      `end
end
local bF,E
if not ARGV[2]and#KEYS<=4000 then
bF={}
local as=call('MGET',unpack(KEYS))
for b=1,#KEYS do bF[KEYS[b]]=as[b]end
if cg~=0 then
local F
F,E=s'state'
end
end
local function dw(b,a,j)
bF[KEYS[b]]=a
if E then return E(b,a,j)end
call('SET',KEYS[b],a,'PXAT',string.format('%d',j/1000+1))
end
local function dA(e)
`,
      bucketDescriptor,
      `return i,m,p,aH,aw
end
local function dO(b,e,t,ab,af)
local i,m,p,aH,aw=dA(e)
local bd,W=r-aH,(ab-t)*m
if aH>1000000000000000 or W>p*m or-W>p*m then return end
local a,h,g=bF[KEYS[b]],bd,aw
local C,u
if a then
local V,H,q,ag,aa,am
if#a==12 then
C,u,V,ag,am=ac('>I3I4I3BB',a)
g,aa,am=0,1,am*1000000
elseif#a==28 then
C,u,g,V,ag,aa,am=ac('>I3I4I3I5I3I5I5',a)
elseif#a==49 then
C,u,g,H,q,ag,aa,am=ac('>I3I4I7I7I7I7I7I7',a)
if q>0 then return end
else
return
end
if ag~=i or aa~=m or am~=p or C<6291456 or C>=10485504 or g>=i then return end
h=(C-8388608)*4294967296+u
if(H or h+V)>r or h>=r then return end
if h<bd or(h==bd and g<=aw)then h,g=bd,aw end
end
if W==0 then return true end
if W<0 then
local U=(r-af)*i
if U>9000000000000000 or U<-9000000000000000 then return end
local au=p*m-U
if au<=0 then return true end
if-W>au then return end
end
local aj=g+W%i
local w=aj%i
h,g=h+(W-W%i)/i+(aj-w)/i,w
local V=r-h
local j=h+aH
if g>aw then j=j+1 end
if j<=r then
bF[KEYS[b]]=false
call('DEL',KEYS[b])
return true
end
if V<0 then return end
u=h%4294967296
C=8388608+(h-u)/4294967296
if V>=1099511627776 or i>=16777216 or p>=1099511627776 then
dw(b,pack('>I3I4I7I7I7I7I7I7',C,u,g,r,0,i,m,p),j)
return true
end
if m==1 and g==0 and V<16777216 and i<256 and p<256000000 and p%1000000==0 then
dw(b,pack('>I3I4I3BB',C,u,V,i,p/1000000),j)
else
dw(b,pack('>I3I4I3I5I3I5I5',C,u,g,V,i,m,p),j)
end
return true
end
local function aP(L,br,B)
local a,e=bF[KEYS[L]],d[B+1]
if br>=0 or d[e]~=0 or not a then return end
local by,l,z,ay,t,af=string.byte(a),nil,nil,nil,nil,0
local ca,ff=549755813888,'>I5I5'
if by==8 and#a==27 then
l,z,ay,t,af=ac('>I7I5I4I5I5',a,2)
elseif by==10 and#a==33 then
l,z,ay,t,af=ac('>I7I7I4I7I7',a,2)
ca,ff=4503599627370496,'>I7I7'
end
if af==0 or ay~=d[B]or r>=l+z then return end
local j,ab=l+z,br==-1 and d[B+2]or t
if ab>=1099511627776 then return end
if br==-1 and not dO(L+1,e,t,ab,l+af-ca)then return end
a=string.sub(a,2)
if ab==t then
dw(L,string.char(by+1)..a,j+60000000)
else
dw(L,string.char(by+5)..a..pack(ff,ab,0),j+60000000)
end
return j,t,ab
end
local bc
local aY={}
local L,cu=1,3
for F=1,d[2]do
local br,Z=d[cu],d[cu+1]
local f,t,al
if bF and Z==1 then f,t,al=aP(L,br,cu+4)end
if f then
aY[#aY+1]=pack('>I7I7I7I7I7',2,f,t,al,0)
else
bc=bc or s('hold-change',dA)
local dQ,j,I=bc(L,br,cu+4,Z)
aY[#aY+1]=pack('>I7I7',dQ,j)
for call=1,Z do
local t,al,cd=0,0,0
for o=#I,1,-1 do
local N=I[o]
if N[1]==d[cu+3*call+1]then t,al,cd=N[2],N[3],N[4]end
end
aY[#aY+1]=pack('>I7I7I7',t,al,cd)
end
for b=L,L+Z do
local w=bF and redis.pcall('GET',KEYS[b])
if bF then bF[KEYS[b]]=type(w)=='string'and w end
end
end
L,cu=L+1+Z,cu+4+3*Z
end
return table.concat(aY)
`,
    ].join(''),
}

export const leaseProgram: Program = {
  sha1: '03b5b142417f8e92d2a1e3a8873fbf86ef3693a2',
  source: () =>
    [
      ``,
      clock,
      `local function s(X,...)
if X=='strings'then
`,
      strings,
      `elseif X=='drop'then
`,
      drop,
      `elseif X=='block-value'then
`,
      blockValue,
      `elseif X=='bucket'then
`,
      bucket,
      `elseif X=='bucket-value'then
`,
      bucketValue,
      `elseif X=='bucket-flow'then
`,
      bucketFlow,
      `elseif X=='bucket-leases'then
`,
      bucketLeases,
      `elseif X=='bucket-adopt'then
`,
      bucketAdopt,
      `end
end
local T,E,F,remove,ap=s'strings'
local ah=s('drop',E,remove,ap)
local bk=s'bucket'
local Y,aq,aG,aJ=bk.Y,bk.aq,bk.aG,bk.aJ
local dT=64
local function go(v,aC)
local bW=#v+1
for o,dl in ipairs(v)do
if dl[4]>aC[4]then
bW=o
break
end
end
table.insert(v,bW,aC)
return v
end
local function fI(b,a,l)
local i,m,p=d[l],d[l+1],d[l+2]
local eT,ar,cb,fp,fP=d[l+3],d[l+4],d[l+5],d[l+6],d[l+7]
local k,f=r,0
local h,g,x,q,v,da
if a then
local ag,aa,am
h,g,x,q,ag,aa,am,f,v=bk.T(a,0)
if h and(ag~=i or aa~=m or am~=p)then
h,g,x,q,v=bk.cD(h,g,x,q,ag,aa,am,i,m,p,v)
da=true
end
if h and x>r then k=x end
end
if f>r then ar=0 end
local cM,ax={},nil
local bK=false
if v then
local gj,gi,bu=bk.aP(h,g,i,m,p,v,k)
for F,aC in ipairs(bu or{})do
if aC[1]==cb then ax=aC else cM[#cM+1]=aC end
end
bK=ax and fp<=ax[2]
if not bK then h,g,v,da=gj,gi,bu,true end
end
local cn=0
if not bK then
local aL,fn,ey=0,0,k+fP
if ax then
aL=math.min(d[l+8],ax[3])
fn=math.min(d[l+9],ax[3]-aL)
ey=math.max(ey,ax[4])
local bE,w=Y(i,m,fn,0)
g=g-w
if g<0 then bE,g=bE+1,g+i end
local be=aJ(cM)+aL
h,g=aq(h-bE,g,i,m,p-be,k)
if x<k then x=k end
v=cM
end
local dF=0
if ar>=eT and(ax or#cM<dT)then
dF=p
if h then
local fH,ef=aq(h,g,i,m,p,k)
dF=aG(fH,ef,i,m,k)
end
end
if dF>=eT then cn=math.min(ar,dF)end
if cn>0 then
local u,cq=aq(-math.huge,0,i,m,p,k)
if not h then
h,g,q=u,cq,0
elseif h<u or(h==u and g<=cq)then
h,g=u,cq
if q>0 and k>=x+q then q=0 end
end
local z,w=Y(i,m,cn,g)
h,g,x=h+z,w,k
end
if aL+cn>0 then v=go(cM,{cb,fp,aL+cn,ey})end
da=da or cn>0
end
if da then
if v and#v==0 then v=nil end
if not h then
ah(b,f)
else
local j=bk.j(h,g,x,q,i,m,p,v or{})
if f>j then j=f end
E(b,bk.a(h,g,x,q,i,m,p,f,v),j)
end
end
return cn
end
local as,aY,cm={},{},{}
for o=1,#KEYS do
as[o]=T(o)
aY[o]=fI(o,as[o],3+(o-1)*d[2])
end
`,
      reply,
    ].join(''),
}

export const needsProgram: Program = {
  sha1: 'cc0ee162e883767fb5d92e216d18e403afa826ca',
  source: () =>
    [
      ``,
      clock,
      `local ee=call('HGETALL',KEYS[1])
local ae,bO={},false
for o=1,#ee,2 do
local fh,aU=ee[o],ee[o+1]
local l=tonumber(string.match(aU,'^%d+'))
if fh==d[2]then
bO=true
elseif r-l>d[3]or l-r>d[3]then
call('HDEL',KEYS[1],fh)
else
ae[#ae+1]=string.sub(aU,18)
end
end
if d[5]==''then
call('HDEL',KEYS[1],d[2])
elseif bO or#ae<d[4]then
call('HSET',KEYS[1],d[2],string.format('%016.0f ',r)..d[5])
call('PEXPIRE',KEYS[1],math.ceil(d[3]/1000))
end
return ae
`,
    ].join(''),
}

export const regionProgram: Program = {
  sha1: '44dad4bf001f85fa9b19122c044ce509badee397',
  source: () =>
    [
      ``,
      clock,
      `local function s(X,...)
if X=='strings'then
`,
      strings,
      `elseif X=='drop'then
`,
      drop,
      `elseif X=='block-value'then
`,
      blockValue,
      `end
end
local T,E,F,remove,ap=s'strings'
local cc=call('INFO','server')..call('INFO','replication')
local bh=string.match(cc,'run_id:(%x+)')..'-'..string.match(cc,'master_replid:(%x+)')..'-'
local aT=call('GET',KEYS[1])
local bt=aT and call('GET',KEYS[2])
if not bt then aT=''end
local b=6
local co=#KEYS>=b
local a=co and T(b)
local ay=co and string.sub(KEYS[b],#KEYS[1]-5)
if co and string.byte(ay)==123 then ay=string.sub(ay,6)end
local bo=co and call('HGET',KEYS[4],ay)
local eb=a and redis.sha1hex(a)or''
local bc=bo and tonumber(string.match(bo,'^%d+'))or 0
local bJ=string.match(aT,'^%S+')or''
if string.sub(bJ,1,#bh)~=bh then
local k=call('TIME')
local fW=d[3]==aT and string.sub(d[2],1,#bh)==bh
bJ=fW and d[2]or bh..string.format('%x%05x',k[1],k[2])
end
local dq=d[2]==bJ and d[3]==aT
if dq and co then dq=(d[5]==eb or d[7]=='-')and d[6]==bc end
if not dq then return{bJ,r,aT,bt,a,eb,bo}end
local aL=not co or d[10]=='-'or d[10]==''
if not aL and bc==0 and call('HLEN',KEYS[4])>=d[11]then return 0 end
local at=call('INCR',KEYS[3])
if d[4]~=''then
call('SET',KEYS[1],bJ..' '..at..' ')
call('SET',KEYS[2],d[4])
end
if not co then return at end
if d[7]~='-'then
local ah=s('drop',E,remove,ap)
local F,F,bj=s'block-value'
local eF=string.gsub(d[7],'..',function(ec)
return string.char(tonumber(ec,16))
end)
local f,j=d[8],d[9]
if eF==''then ah(b,f)else E(b,bj(eF,f),math.max(f,j))end
end
if d[10]~='-'and bc>0 then
local bP=math.floor(bc/64)
call('ZREM',KEYS[5]..':'..bP,ay)
if call('EXISTS',KEYS[5]..':'..bP)==0 then call('ZREM',KEYS[5],bP)end
end
if d[10]==''then
call('HDEL',KEYS[4],ay)
elseif d[10]~='-'then
bo=at..' '..d[10]
call('HSET',KEYS[4],ay,bo)
local bP=math.floor(at/64)
call('ZADD',KEYS[5]..':'..bP,at,ay)
call('ZADD',KEYS[5],bP,bP)
end
if d[7]=='-'then return{bJ,r,aT,bt,a,eb,bo}end
return at
`,
    ].join(''),
}

export const releaseProgram: Program = {
  sha1: '0f404d5e255d12b39b4578063c5f6ada57bebd2d',
  source: () =>
    [
      ``,
      clock,
      `local function s(X,...)
if X=='state'then
`,
      state,
      `elseif X=='strings'then
`,
      strings,
      `elseif X=='packed-value'then
`,
      packedValue,
      `elseif X=='sweep'then
`,
      sweep,
      `elseif X=='block-value'then
`,
      blockValue,
      `elseif X=='state-until'then
`,
      stateUntil,
      `elseif X=='bucket-value'then
`,
      bucketValue,
      `elseif X=='bucket-flow'then
`,
      bucketFlow,
      `elseif X=='bucket-leases'then
`,
      bucketLeases,
      `elseif X=='window-value'then
`,
      windowValue,
      `elseif X=='counter-value'then
`,
      counterValue,
      `elseif X=='record-value'then
`,
      recordValue,
      `elseif X=='drop'then
`,
      drop,
      `elseif X=='slots'then
`,
      slots,
      `end
end
local T,E,F,remove,ap=s'state'
local ah=s('drop',E,remove,ap)
local an=s'block-value'
local F,cA=s'slots'
local bC={}
for b=1,#KEYS do
local a=T(b)
if a and an(a)==9000000000000000 then
bC[#bC+1]=b
else
local w,j=cA(a,d[2*b],d[2*b+1])
if w then E(b,w,j)elseif w==false then ah(b,j)end
end
end
return bC
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
  sha1: 'e03788b896592ac78720a6e3d2ff701e653cea6a',
  source: () =>
    [
      ``,
      clock,
      `local function s(X,...)
if X=='state'then
`,
      state,
      `elseif X=='strings'then
`,
      strings,
      `elseif X=='packed-value'then
`,
      packedValue,
      `elseif X=='sweep'then
`,
      sweep,
      `elseif X=='block-value'then
`,
      blockValue,
      `elseif X=='state-until'then
`,
      stateUntil,
      `elseif X=='bucket-value'then
`,
      bucketValue,
      `elseif X=='bucket-flow'then
`,
      bucketFlow,
      `elseif X=='bucket-leases'then
`,
      bucketLeases,
      `elseif X=='window-value'then
`,
      windowValue,
      `elseif X=='counter-value'then
`,
      counterValue,
      `elseif X=='record-value'then
`,
      recordValue,
      `end
end
local T,E=s'state'
local aK=#KEYS
local ae={}
for b=1,aK do
local a=T(b)
ae[b],ae[aK+b]=a,a and redis.sha1hex(a)or''
end
if#d==1 then
ae[2*aK+1]=r
return ae
end
for b=1,aK do
if ae[aK+b]~=d[4*b-2]then return 0 end
end
local F,bi,bj=s'block-value'
local eZ,fU=r+2000000,1+r%1000000000
for b=1,aK do
local a=string.gsub(d[4*b-1],'..',function(ec)
return string.char(tonumber(ec,16))
end)
local f,j=d[4*b],d[4*b+1]
if a==''then
E(b,bi(f>r and f or fU),math.max(f,eZ))
else
if string.byte(a)~=2 then a=bj(a,f)end
E(b,a,math.max(f,j,eZ))
end
end
return 1
`,
    ].join(''),
}
