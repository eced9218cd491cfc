// Made from the programs beside this file by `npm run generate`; edit those, not this.

/** A program: its digest, and its text, which is put together only for a server that does not know it. */
export interface Program {
  readonly sha1: string
  readonly source: () => string
}

const clock = `local call,KEYS=redis.call,KEYS
local pack,ac=struct.pack,struct.unpack
local d=cjson.decode(ARGV[1])
local ci=d[1]
local bP=ci==0 and call('TIME')
local q=bP and bP[1]*1000000+bP[2]or ci
`

const state = `local fm,fk,aG,fn,ap,cH=s'strings'
local dH=ARGV[2]and ARGV[2]~=''and cjson.decode(ARGV[2])
if not dH then
return fm,fk,aG,fn,ap
end
local cG,ea=s'packed-value'
local function ct(b)
if dH[2*b]<0 then return nil end
return pack('>I4I4',dH[2*b-1],dH[2*b])
end
local function T(b)
local aM=ct(b)
if not aM then return fm(b)end
local ae=redis.pcall('HMGET',KEYS[b],aM,'')
if ae.err then return false end
return ae[1]and cG(ae[1],ae[2]or'')
end
local function fY(M,aM,a,j)
local O=redis.pcall('HGET',M,'')
if type(O)=='table'then call('DEL',M)end
if type(O)~='string'or#O<6 or(#O-6)%13>0 then O=false end
local cn,bf=ea(a,O and string.sub(O,7)or'')
local H=O and ac('>I6',O)or 0
local bb
if ci==0 and H*1000>=j then
if#O==6+#bf then
bb=call('HSET',M,aM,cn)
else
bb=call('HSET',M,aM,cn,'',string.sub(O,1,6)..bf)
end
else
local ek=j+math.max(0,j-q)/4
bb=call('HSET',M,aM,cn,'',pack('>I6',math.max(H,math.floor(ek/1000)))..bf)
if ci~=0 and O then
call('PEXPIREAT',M,cH(ek),'GT')
else
call('PEXPIREAT',M,cH(ek))
end
end
if bb>0 and ci==0 and q%16==0 then
s('sweep',cG,ap)(M)
end
end
local function E(b,a,j)
local aM=ct(b)
if aM then return fY(KEYS[b],aM,a,j+ap)end
fk(b,a,j)
end
local function remove(b)
local aM=ct(b)
if not aM then
fn(b)
elseif type(redis.pcall('HGET',KEYS[b],aM))~='table'then
call('HDEL',KEYS[b],aM)
end
end
return T,E,aG,remove,ap,ct
`

const strings = `local ap=(ARGV[3]or 0)+0
local function T(b)
local a=redis.pcall('GET',KEYS[b])
return type(a)=='string'and a
end
local function cH(j)
if ci==0 then return math.floor(j/1000)+1 end
local k=call('TIME')
return k[1]*1000+math.ceil(math.max(0,j-q)/1000)+60000
end
local function E(b,a,j)
call('SET',KEYS[b],a,'PXAT',cH(j+ap))
end
local function aG(b,j)
call('PEXPIREAT',KEYS[b],cH(j+ap))
end
local function remove(b)
call('DEL',KEYS[b])
end
return T,E,aG,remove,ap,cH
`

const packedValue = `local function cG(a,O)
local G=#a
if G~=13 and G~=14 then return a end
local C,u,V,o=ac('>I3I4I5B',a)
if C<6291456 or C>=10485760 or#O<6+13*o or o<1 then return a end
local i,m,p=ac('>I3I5I5',O,13*o-6)
local h=0
if G==14 then h=string.byte(a,14)end
return pack('>I3I4I3I5I3I5I5',C,u,h,V,i,m,p)
end
local function ea(a,bf)
if#a~=28 then return a,bf end
local C,u,h,V=ac('>I3I4I3I5',a)
if C<6291456 or C>=10485760 or h>255 then return a,bf end
local bE,o=string.sub(a,16),0
for l=1,#bf,13 do
if string.sub(bf,l,l+12)==bE then o=(l+12)/13 end
end
if o==0 then
if#bf>51 then return a,bf end
bf=bf..bE
o=#bf/13
end
local cn=pack('>I3I4I5B',C,u,V,o)
if h>0 then cn=cn..string.char(h)end
return cn,bf
end
return cG,ea
`

const sweep = `local cG,ap=...
local an=s'block-value'
local ev=s'state-until'
return function(M)
local bq=call('HRANDFIELD',M,128,'WITHVALUES')
local O=call('HGET',M,'')
for o=1,#bq,2 do
local a=cG(bq[o+1],O)
local g=an(a)
if bq[o]~=''and(ev(a)or 0)+ap<=q and g+ap<=q then call('HDEL',M,bq[o])end
end
end
`

const blockValue = `local function an(a)
local g,K=0,a
if#a>=7 then
local C,u=ac('>I3I4',a)
if C>=14680064 then g,K=(C-14680064)*4294967296+u,string.sub(a,8)end
end
if string.byte(K)==1 then return 9000000000000000,''end
return g,K
end
local function bj(g)
local u=g%4294967296
return pack('>I3I4',14680064+(g-u)/4294967296,u)
end
local function bk(a,g)
if g+60000000<=q then return a end
return bj(g)..a
end
return an,bj,bk
`

const stateUntil = `local an=s'block-value'
local cg=s'bucket-value'
local Y,aq=s'bucket-flow'
local F,F,cr=s('bucket-leases',Y,aq)
local cA,F,by=s'window-value'
local cy=s'counter-value'
local cz=s'record-value'
return function(a)
local f,h,x,r,i,m,p,F,v=cg(a,0)
if f then return cr(f,h,x,r,i,m,p,v or{})end
local n,F,D,J=cA(a)
if n then return by(n,D,J)end
local bm,Q,F,y=cy(a)
if bm and Q>0 then return bm+y end
local F,eQ=cz(a)
if eQ then return eQ+60000000 end
local F,K=an(a)
if string.byte(K)==3 then return(ac('>I7',K,2))end
return bm
end
`

const bucketValue = `local an,F,bk=s'block-value'
local function fP(h,x,r,i,m,p)
if h>=i or x>9007199254740991 or r>3200000000000000 then return false end
if m<1 or p<1 or m>9007199254 then return false end
return i*(p/1000000+2)<=9007199254740992 and p/i*m<=3200000000000000
end
local function cg(a,g)
local G=#a
local C,u,h,V,x,r,i,m,p
if G==12 then
C,u,V,i,p=ac('>I3I4I3BB',a)
h,r,m,p=0,0,1,p*1000000
elseif G==28 then
C,u,h,V,i,m,p=ac('>I3I4I3I5I3I5I5',a)
r=0
elseif G>=49 and(G-49)%28==0 then
C,u,h,x,r,i,m,p=ac('>I3I4I7I7I7I7I7I7',a)
end
if C and C>=6291456 and C<10485760 then
local f,v=(C-8388608)*4294967296+u,nil
x=x or f+V
if not fP(h,x,r,i,m,p)then return nil,nil,nil,nil,nil,nil,nil,0 end
for l=50,G,28 do
v=v or{}
v[#v+1]={ac('>I7I7I7I7',a,l)}
end
return f,h,x,r,i,m,p,g,v
end
local ex,K=an(a)
if ex==0 or g>0 then return nil,nil,nil,nil,nil,nil,nil,0 end
if K==''then return nil,nil,nil,nil,nil,nil,nil,ex end
return cg(K,ex)
end
local function cX(f,h,x,r,i,m,p,g,v)
local u,V=f%4294967296,x-f
local C=8388608+(f-u)/4294967296
local a
if r>0 or v or V<0 or V>=1099511627776 or i>=16777216 or p>=1099511627776 then
a=pack('>I3I4I7I7I7I7I7I7',C,u,h,x,r,i,m,p)
for F,aC in ipairs(v or{})do a=a..pack('>I7I7I7I7',aC[1],aC[2],aC[3],aC[4])end
elseif m==1 and h==0 and V<16777216 and i<256 and p<256000000 and p%1000000==0 then
a=pack('>I3I4I3BB',C,u,V,i,p/1000000)
else
a=pack('>I3I4I3I5I3I5I5',C,u,h,V,i,m,p)
end
if g>0 then return bk(a,g)end
return a
end
return cg,cX
`

const bucketFlow = `local function Y(i,m,bC,A)
local cj=m*1000000
local dt,eY=cj%i,m%i
local I=bC%1000000
local bx=(bC-I)/1000000
local aj=A+bx*dt+I*eY
local w=aj%i
return bx*((cj-dt)/i)+I*((m-eY)/i)+(aj-w)/i,w
end
local function fh(i,m,ft,A,z)
local L=0
if z<=0 then return L end
local eh=(z-A/i)/(m*ft/i)*(1-2^-50)
if eh>0 then L=eh-eh%1 end
while true do
local aX,w=Y(i,m,(L+1)*ft,A)
if aX>z or(aX==z and w>0)then return L end
L=L+1
end
end
local function aq(f,h,i,m,bC,k)
if bC<0 then bC=0 end
local z,w=Y(i,m,bC,0)
local u,cs=k-z,0
if w>0 then u,cs=u-1,i-w end
if f>u or(f==u and h>=cs)then return f,h end
return u,cs
end
local function aH(f,h,i,m,k)
local bx=fh(i,m,1000000,h,k-f)
local aX,w=Y(i,m,bx*1000000,h)
f,h=f+aX,w
local I=fh(i,m,1,h,k-f)
return bx*1000000+I,f,h,I
end
local function bu(i,m,bx)
local cj=m*1000000
local h=cj%i
local cc=h%131072
local bJ=bx*((h-cc)/131072)
local B=bJ%i
local cY=B*131072+bx*cc
local w=cY%i
return bx*((cj-h)/i)+(bJ-B)/i*131072+(cY-w)/i,w
end
local function bH(i,m,p,k)
return math.min(k+3155760000000000,9007199254740990-(Y(i,m,p,0)))
end
return Y,aq,aH,bu,bH
`

const bucketLeases = `local Y,aq=...
local function aK(v)
local be=0
for F,aC in ipairs(v)do be=be+aC[3]end
return be
end
local function aP(f,h,i,m,p,v,k)
local be,w=aK(v),{}
for F,aC in ipairs(v)do
if aC[4]<=k and#w==0 then
f,h=aq(f,h,i,m,p-be,aC[4])
be=be-aC[3]
else
w[#w+1]=aC
end
end
if#w==0 then return f,h,nil end
f,h=aq(f,h,i,m,p-be,k)
return f,h,w
end
local function cr(f,h,x,r,i,m,p,v)
local be,aE=aK(v),math.min(math.max(x,f)+r,9007199254740991)
for F,aC in ipairs(v)do
f,h=aq(f,h,i,m,p-be,aC[4])
be=be-aC[3]
end
local aX,w=Y(i,m,p,h)
local j=f+aX
if w>0 then j=j+1 end
if r>0 and aE>j then j=aE end
return j
end
return aK,aP,cr
`

const windowValue = `local an,F,bk=s'block-value'
local function cA(a)
local g,K=0,a
if#a~=21 then g,K=an(a)end
if#K==21 then
local C,u,L,J,y=ac('>I3I4I7BI6',K)
y=J%16*281474976710656+y
if C>=10485760 and C<12582912 and y>0 then
return(C-10485760)*4294967296+u,L,y,math.floor(J/16),g
end
end
if K==a then g,K=an(a)end
return nil,nil,nil,nil,K==''and g or 0
end
local function dv(n,L,y,J,g)
local u,cC=n%4294967296,y%281474976710656
local ew=J*16+(y-cC)/281474976710656
local a=pack('>I3I4I7BI6',10485760+(n-u)/4294967296,u,L,ew,cC)
if g>0 then return bk(a,g)end
return a
end
local function by(n,y,J)
if J>2 then return n+y end
return n+math.ceil(y/(J==2 and 4 or J==1 and 16 or 64))
end
return cA,dv,by
`

const counterValue = `local an,F,bk=s'block-value'
local function cy(a)
local g,K=0,a
if#a~=28 then g,K=an(a)end
if#K==28 then
local C,u,Q,S,aA,y=ac('>I3I4I7I7BI6',K)
y=aA%16*281474976710656+y
if C>=12582912 and C<14680064 and y>0 then
return(C-12582912)*4294967296+u,Q,S,y,math.floor(aA/16),g
end
end
if K==a then g,K=an(a)end
return nil,nil,nil,nil,nil,K==''and g or 0
end
local function de(n,Q,S,y,aA,g)
local u,cC=n%4294967296,y%281474976710656
local ew=aA*16+(y-cC)/281474976710656
local a=pack('>I3I4I7I7BI6',12582912+(n-u)/4294967296,u,Q,S,ew,cC)
if g>0 then return bk(a,g)end
return a
end
return cy,de
`

const recordValue = `local eB,dx,eC=1099511627776,549755813888,4503599627370496
local function cz(a)
local bz,G=a and string.byte(a),a and#a
if not bz or bz<8 or bz>15 or G<13 then return nil end
local bi=bz%2
local aW,W=bz%4>1,bz>11
local at=aW and'I7'or'I5'
local l,z,A=ac('>I7'..at,a,2)
local bs='>I4'..at..at
if W then bs=bs..at..at end
local fr=4+(W and 4 or 2)*(aW and 7 or 5)
if(G-A+1)%fr>0 then return nil end
local I={}
for B=A,G,fr do
local ax,t,af,al,cf=ac(bs,a,B)
if not W then al,cf=t,0 end
if af>0 then af=l+af-(aW and eC or dx)end
I[#I+1]={ax,t,al,cf,af}
end
return l,l+z,bi,I
end
local function dn(l,j,bi,I)
local aW,W=j-l>=eB,false
for F,N in ipairs(I)do
local t,al,cf,af=N[2],N[3],N[4],N[5]
if al~=t or cf>0 then W=true end
if math.max(t,al,cf)>=eB or af~=0 and(af<=l-dx or af>=l+dx)then aW=true end
end
local at=aW and'I7'or'I5'
local bs='>I4'..at..at
local a=pack('>BI7'..at,8+bi+(aW and 2 or 0)+(W and 4 or 0),l,j-l)
for F,N in ipairs(I)do
local af=N[5]
if af~=0 then af=af-l+(aW and eC or dx)end
a=a..pack(bs,N[1],N[2],af)
if W then a=a..pack('>'..at..at,N[3],N[4])end
end
return a
end
return cz,dn
`

const drop = `local E,remove,ap=...
local F,bj=s'block-value'
return function(b,g)
if g>q then return E(b,bj(g),g)end
if ap>0 then return E(b,bj(1),q)end
remove(b)
end
`

const bucketChange = `local T,E,ah=...
local cg,cX=s'bucket-value'
local Y,aq,aH,bu,bH=s'bucket-flow'
local aK,aP,cr=s('bucket-leases',Y,aq)
local function cl(b,i,m,p,aI,aw,gl,eu)
local k,g=q,0
local a=T(b)
local f,h,x,r,v,aB
if a then
local ag,aa,am
f,h,x,r,ag,aa,am,g,v=cg(a,0)
if g==9000000000000000 then return true end
if f and(ag~=i or aa~=m or am~=p)then
local dU=s('bucket-adopt',Y,aq,aH,bu,bH,aK,aP)
f,h,x,r,v=dU(f,h,x,r,ag,aa,am,i,m,p,v)
aB=true
end
if f and x>q then k=x end
end
if v then
aB=aB or gl
f,h,v=aP(f,h,i,m,p,v,k)
end
local A,dC,aE,u=f,h,r,k-aI
if not f then
A,dC,aE=u,aw,0
elseif f<u or(f==u and h<=aw)then
A,dC=u,aw
if r>0 and k>=math.max(x,f)+r then aE=0 end
end
local aQ,z,cR=eu(A,dC,k,v)
if not aQ then
if not aB then return end
if not f then return ah(b,g)end
else
f,h,r=A,dC,aE
local ar,cv=k+aI,0
if aw>0 then ar,cv=ar-1,i-aw end
local bA=bH(i,m,p,k)
if ar>bA or(ar==bA and cv>0)then ar,cv=bA,0 end
if f>ar or(f==ar and h>cv)then ar,cv=f,h end
local aj=h-aQ*cR
local w=aj%i
f,h,x=f-aQ*z+(aj-w)/i,w,k
if aQ<0 and(f>ar or(f==ar and h>cv))then f,h=ar,cv end
if v then f,h=aq(f,h,i,m,p-aK(v),k)end
end
local j=f+aI
if h>aw then j=j+1 end
if r>0 then j=math.max(j,math.min(math.max(x,f)+r,9007199254740991))end
if v then
j=cr(f,h,x,r,i,m,p,v)
elseif j<=k then
return ah(b,g)
end
if g>j then j=g end
E(b,cX(f,h,x,r,i,m,p,g,v),j)
end
return cl,Y,aH,bu
`

const bucketAdopt = `local Y,aq,aH,bu,bH,aK,aP=...
local function dU(f,h,x,r,ag,aa,am,i,m,p,v)
local k=q
if x>q then k=x end
if v then
f,h,v=aP(f,h,ag,aa,am,v,k)
end
local eO,eg=Y(ag,aa,am,0)
local bn,fH=Y(ag,aa,am,h)
local g=f+bn
if fH>0 then g=g+1 end
if r>0 then g=math.max(g,math.max(x,f)+r)end
if g<=k then return nil end
local dG=eO
if eg>0 then dG=eO+1 end
f,h=aq(f,h,ag,aa,am,k)
local df=0
if f>k or(f==k and h>0)then
local cj=aa*1000000
local dt=cj%ag
df=math.min(9007199256,math.floor((f-k+1)/((cj-dt)/ag+dt/ag))+1)
local E,fZ=bu(ag,aa,df)
f,h=f-E,h-fZ
if h<0 then f,h=f-1,h+ag end
end
local bC,I
bC,f,h,I=aH(f,h,ag,aa,k)
local N=(k-f)*ag-h-I*aa
local ap=0
if df==0 and bC>=p then
bC=p
elseif N>0 then
local cc=m%131072
local bJ=N*((m-cc)/131072)
local cY=(bJ%aa)*131072+N*cc
ap=(bJ-bJ%aa)/aa*131072+(cY-cY%aa)/aa
end
local z,cR=Y(i,m,bC,0)
local dV=cR+ap
if r>dG then dG=r end
f,h=k-z-(dV+(-dV)%i)/i,(-dV)%i
if df>0 then
local fT,fU=bu(i,m,df)
f,h=f+fT,h+fU
if h>=i then f,h=f+1,h-i end
end
local bA=bH(i,m,p,k)
if f>bA or(f==bA and h>0)then f,h=bA,0 end
if v then
f,h=aq(f,h,i,m,p-aK(v),k)
end
return f,h,k,dG,v
end
return dU
`

const windowChange = `local T,E,ah=...
local cA,dv,by=s'window-value'
local cU,cW,dm,du=s('window-adopt',by)
return function(b,e,fB)
local ai=d[e+2]
local g=0
local a=T(b)
local n,L,z,J,aB
if a then
local bw
n,L,z,J,g=cA(a)
if g==9000000000000000 then return true end
bw=n
if n then n,L,z,J,aB=cU(n,L,z,J,e)end
if bw and not n then ah(b,g)end
end
local H,aW,cD,az=n,z,J,L
if not(n and q<n)then
H,aW,cD=cW(n,z,J,e)
az=0
end
local ao,aF,P
ao,aF,P,aW,cD=dm(H,az,aW,cD,e)
local ak=fB(P,ao)
if ak~=0 then
az,aB=aF+P-ak,true
if ak>0 and az==0 and cD<4 then return ah(b,g)end
n,L,z,J=H,az,aW,du(cD,az,ai)
end
if not aB then return end
E(b,dv(n,L,z,J,g),math.max(by(n,z,J),g))
end
`

const windowAdopt = `local by=...
local function eN(e,k)
local D=d[e+3]
if d[e+4]==1 then return k+D end
local dP=k-d[e+8]
return dP-dP%D+D+d[e+8]
end
local function cU(n,L,y,J,e)
local D=d[e+3]
if y==D and J<5 then return n,L,y,J,false end
if q>=n then
if q>=by(n,y,J)then return nil end
return n,L,y,J,false
end
if J==6 then
if D<=y then return n,L,y,J,false end
return n,9007199254740991,D,4,true
end
if y==D then return n,L,y,4,true end
if D<y and J>=4 then return n,L,y,J,false end
local H=eN(e,q)
if D>y and d[e+4]==1 then
H=n-y+D
elseif n>H then
H=n
end
return H,L,math.max(y,D),4,true
end
local function cW(n,y,J,e)
local D,ay=d[e+3],eN(e,q)
if not n or q>=by(n,y,J)then return ay,D,0 end
if D>y then return math.max(ay,n+y),D,4 end
if D<y and J<5 then return n+y,y,5 end
if d[e+4]~=1 and ay-D<n then ay=ay+D end
return ay,D,0
end
local function dm(n,L,y,J,e)
local ai,D,N=d[e+2],d[e+3],0
if J>=5 and D<y then
N=math.max(0,math.min(math.floor((q-n+y)/D),math.floor(y/D)-1))
end
local ao,aF=n-y+N*D,N*ai
local P=math.max(0,L-aF)
if J==6 or J==5 and aF>9007199254740991-2*ai then return ao,0,P,n-ao,6 end
return ao,aF,P,y,J
end
local function du(J,L,ai)
if J>=4 then return J end
if L*4>ai then return 3 end
return L*16>ai and 2 or L*64>ai and 1 or 0
end
return cU,cW,dm,du
`

const counterChange = `local T,E,ah=...
local cy,de=s'counter-value'
local cT,cQ,dr=s'counter-adopt'
return function(b,e,fC)
local D=d[e+3]
local g=0
local a=T(b)
local n,Q,S,z,aA,aB
if a then
local bw
n,Q,S,z,aA,g=cy(a)
if g==9000000000000000 then return true end
bw=n
if n then
n,Q,S,z,aA,aB=cT(n,Q,S,z,aA,e)
end
if bw and not n then ah(b,g)end
end
local aE=n and q<n
local bm,fb,el=cQ(n,Q,S,D)
if not aE then z,aA=D,0 end
local cK,dk=fC(bm,fb,el,z,dr(bm,el,z,e))
if cK~=0 or dk~=0 then
n,Q,S,aB=bm,fb-cK,el-dk,true
if Q+S==0 then return ah(b,g)end
end
if not aB then return end
local j=n
if Q>0 then j=n+z end
E(b,de(n,Q,S,z,aA,g),math.max(j,g))
end
`

const counterAdopt = `local function cQ(n,Q,S,D)
if n and q<n then return n,Q,S end
if not n or q>=n+D then return q-q%D+D,0,0 end
return n+D,0,Q
end
local function cT(n,Q,S,y,aA,e)
local D=d[e+3]
if y==D then
if aA==0 or q>=n then return n,Q,S,y,aA,false end
return n,Q,S,y,0,true
end
if y>D and q<n then return n,Q,S,y,aA,false end
n,Q,S=cQ(n,Q,S,y)
if y>D and aA==0 then
if S==0 then return nil end
return n,Q,S,y,1,true
end
n=n-y+D
if q>=n or Q+S==0 then return nil end
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
local w=math.min(dM,math.ceil((n-q)/cN))
local bx=math.floor(S/1000000)
local fj=bx*w
local bV=math.floor(fj/dM)
local h=(fj-bV*dM)*1000000+(S-bx*1000000)*w
return bV*1000000+math.ceil(h/dM)
end
return cT,cQ,dr
`

const logChange = `local E,aG,ah=...
local R=s('log-value',E,aG)
local ck,cS,db=s('log-adopt',R)
local dp,eq=s('log-refund',R,ah,E)
local function cZ(b,e,bc)
local aZ=R.aJ(b)
if aZ.g==9000000000000000 then return true end
local c=ck(aZ,e)
if aZ.bw and not c.bw then ah(b,c.g)end
local k,B,P=cS(c,e)
if not bc(c,k,B,P)and c.ee then R.dN(c)end
end
local function cm(c,e,B,k,ad)
R.aD(c,db(c,e,B,k,ad))
end
return cZ,cm,dp,eq,R
`

const logValue = `local E,aG=...
local an=s'block-value'
local ba,aS,bW,bX=47,14,64,4503599627370496
local function eZ(b,g)
return{b=b,G=0,av=0,aF=0,l=0,aj=0,y=0,r=0,g=g,aZ=0,dz=true}
end
local function fS(b)
local M,c=KEYS[b],eZ(b,0)
local a=redis.pcall('GETRANGE',M,0,ba+bW*aS-1)
if type(a)~='string'then return c end
local D=#a
if D==ba+bW*aS then D=call('STRLEN',M)end
if D<ba or string.byte(a)~=2 or(D-ba)%aS>0 then
local g,K=an(a)
if K==''then c.g=g end
return c
end
local F,g,y,r,aF,l,aj,av=ac('>BI7I7I7I7I7I7I4',a)
local aZ=(D-ba)/aS
if av>aZ or y<1 then return c end
c.bw,c.dz,c.aZ,c.G=true,false,aZ,aZ+1
c.g,c.y,c.r,c.aF,c.l,c.aj,c.av=g,y,r,aF,l,aj,av
c.en={[0]=string.sub(a,ba+1)}
return c
end
local function aU(c,o)
if o==c.G-1 then return c.l,c.aj end
if o==c.aZ then return c.fe,c.ff end
local fc=o%bW
local at=(o-fc)/bW
local dK=c.en[at]
if not dK then
local A=ba+at*bW*aS
dK=call('GETRANGE',KEYS[c.b],A,A+bW*aS-1)
c.en[at]=dK
end
local l,aj=ac('>I7I7',dK,fc*aS+1)
return l,aj
end
local function aN(c,o)
if o<c.av then return 0 end
local F,aj=aU(c,o)
return(aj-c.aF)%bX
end
local function cb(c,fN,A)
local u,C=A,c.G
while u<C do
local cu=math.floor((u+C)/2)
if aU(c,cu)>fN then C=cu else u=cu+1 end
end
return u
end
local function dg(c,aj,A)
local u,C=A,c.G
while u<C do
local cu=math.floor((u+C)/2)
if aN(c,cu)>=aj then C=cu else u=cu+1 end
end
return u
end
local function cm(c,aD)
local A=aD.A
c.ee,c.bw,c.y,c.r=true,true,aD.y,aD.r
if A==c.G then
c.dz,c.aZ,c.G,c.av,c.aF,c.l,c.aj=true,0,1,0,0,aD.k,aD.ad
return
end
if A>c.av then
local F,aF=aU(c,A-1)
c.aF,c.av=aF,A
end
if not aD.cI then
c.fe,c.ff,c.G=c.l,c.aj,c.G+1
end
c.l,c.aj=aD.k,(c.aj+aD.ad)%bX
end
local function eX(c,av)
return pack('>BI7I7I7I7I7I7I4',2,c.g,c.y,c.r,c.aF,c.l,c.aj,av)
end
local function eW(c)
local j=c.l+c.y
if c.r>c.y then j=c.l+c.r end
if c.g>j then j=c.g end
return j
end
local function gd(c)
local j=eW(c)
local W=c.G-1>c.aZ
local bb=''
if W and c.av<=c.aZ then bb=pack('>I7I7',c.fe,c.ff)end
local av=c.av
local bV=c.dz or c.aZ<=bW or av>c.G-av
if bV then av=0 end
local O=eX(c,av)
if bV then
local bZ=''
if not c.dz then
if c.aZ<=bW then
bZ=string.sub(c.en[0],c.av*aS+1)
else
bZ=call('GETRANGE',KEYS[c.b],ba+c.av*aS,-1)
end
end
return E(c.b,O..bZ..bb,j)
end
call('SETRANGE',KEYS[c.b],0,O)
if W then call('APPEND',KEYS[c.b],bb)end
aG(c.b,j)
end
return{
ba=ba,
aS=aS,
bX=bX,
fR=eZ,
aJ=fS,
aU=aU,
aN=aN,
cb=cb,
dg=dg,
aD=cm,
O=eX,
j=eW,
dN=gd,
}
`

const logAdopt = `local R=...
local cb,aN=R.cb,R.aN
local fu=10000
local function ck(c,e)
local D=d[e+3]
if not c.bw or c.y==D then return c end
local r=c.y
if c.r>r then r=c.r end
if c.l+r<=q then
return R.fR(c.b,c.g)
end
c.y,c.ee=D,true
if r>D then c.r=r else c.r=0 end
return c
end
local function cS(c,e)
local k=q
if c.l>q then k=c.l end
local B=cb(c,k-d[e+3],c.av)
return k,B,aN(c,c.G-1)-aN(c,B-1)
end
local function db(c,e,B,k,ad)
local A,r,ar=B,c.r,d[e+4]
if r>0 then A,ar=cb(c,k-r,c.av),fu end
local aE=c.G-A
local cI=aE>0 and c.l==k
if not cI and aE>=ar then
if A<B then A=A+1 else cI=true end
end
if aE==0 then r=0 end
return{A=A,k=k,cI=cI,ad=ad,y=d[e+3],r=r}
end
return ck,cS,db
`

const logRefund = `local R,ah,E=...
local aU,aN,ba,aS,bX=R.aU,R.aN,R.ba,R.aS,R.bX
local function fp(c,ao,az)
local ch,aj={},(c.aF+aN(c,ao-1))%bX
for o=ao,c.G-1 do
local h=aN(c,o)-aN(c,o-1)-(az[o]or 0)
if h>0 then
aj=(aj+h)%bX
ch[#ch+1]={(aU(c,o)),aj}
end
end
local bO=ao
if#ch==0 then
if ao==c.av then return ah(c.b,c.g)end
bO=ao-1
c.l,c.aj=aU(c,bO)
else
c.l,c.aj=unpack(ch[#ch])
end
local bZ=''
if bO>c.av then bZ=call('GETRANGE',KEYS[c.b],ba+c.av*aS,ba+bO*aS-1)end
for o=1,#ch-1 do bZ=bZ..pack('>I7I7',ch[o][1],ch[o][2])end
E(c.b,R.O(c,0)..bZ,R.j(c))
end
local function gb(c,B,bd,ak,bg)
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
ao=R.cb(c,bg-1,B)
for o=ao,c.G-1 do dR(o)end
end
if w<ak then fp(c,ao,az)end
return ak-w
end
return gb,fp
`

const bucketDescriptor = `local i,m,p=d[e+1],d[e+2],d[e+3]
local aI,aw,ad,cF=d[e+4],d[e+5],d[e+6],d[e+7]
if d[e]==0 then
local I=aI*m
cF=I%i
ad=(I-cF)/i
I=p*m
aw=-I%i
aI=(I+aw)/i
end
`

const bucket = `local T,a=s'bucket-value'
local Y,aq,aH,bu,bH=s'bucket-flow'
local aK,aP,j=s('bucket-leases',Y,aq)
local cE=s('bucket-adopt',Y,aq,aH,bu,bH,aK,aP)
return{
T=T,
a=a,
Y=Y,
aq=aq,
aH=aH,
bH=bH,
aK=aK,
aP=aP,
j=j,
cE=cE,
}
`

const bucketStep = `local k,g,U=q,0,0
local f,h,x,r,v,aB,bN,j
if a then
local G=#a
local C,u,V,ag,aa,am,H
if G==12 then
C,u,V,ag,am=ac('>I3I4I3BB',a)
h,r,aa,am=0,0,1,am*1000000
elseif G==28 then
C,u,h,V,ag,aa,am=ac('>I3I4I3I5I3I5I5',a)
r=0
elseif G==49 then
C,u,h,H,r,ag,aa,am=ac('>I3I4I7I7I7I7I7I7',a)
end
local dq=ag==i and aa==m and am==p and(not H or H<=9007199254740991 and r<=3200000000000000)
if dq and C>=6291456 and C<10485504 and h<i then
f=(C-8388608)*4294967296+u
x=H or f+V
else
bB=bB or et(q,pack,ac)
f,h,x,r,ag,aa,am,g,v=bB.T(a,0)
end
if f then
if ag~=i or aa~=m or am~=p then
f,h,x,r,v=bB.cE(f,h,x,r,ag,aa,am,i,m,p,v)
aB=f
end
if f and x>q then k=x end
if v then
f,h,v=bB.aP(f,h,i,m,p,v,k)
end
end
end
local bd=k-aI
if not f then
f,h,r=bd,aw,0
elseif f<bd or(f==bd and h<=aw)then
if r>0 and k>=math.max(x,f)+r then r=0 end
f,h=bd,aw
end
local aJ,bA=aR,k
if g>q then aJ=0 end
if bO and dX<=p-(v and bB.aK(v)or 0)then bA=k+bO end
while U<aJ do
local di,w=f+ad,h+cF
if w>=i then di,w=di+1,w-i end
if di>bA or(di==bA and w>0)then break end
f,h,U=di,w,U+1
end
if U>0 or aB then
j=f+aI
if h>aw then j=j+1 end
local V,u=k-f,f%4294967296
if g>0 or v then
bB=bB or et(q,pack,ac)
bN=bB.a(f,h,k,r,i,m,p,g,v)
if v then
j=bB.j(f,h,k,r,i,m,p,v)
elseif r>0 then
j=math.max(j,math.min(math.max(k,f)+r,9007199254740991))
end
if g>j then j=g end
elseif r>0 or V<0 or V>=1099511627776 or i>=16777216 or p>=1099511627776 then
bN=pack('>I3I4I7I7I7I7I7I7',8388608+(f-u)/4294967296,u,h,k,r,i,m,p)
if r>0 then j=math.max(j,math.min(math.max(k,f)+r,9007199254740991))end
elseif m==1 and h==0 and V<16777216 and i<256 and p<256000000 and p%1000000==0 then
bN=pack('>I3I4I3BB',8388608+(f-u)/4294967296,u,V,i,p/1000000)
else
bN=pack('>I3I4I3I5I3I5I5',8388608+(f-u)/4294967296,u,h,V,i,m,p)
end
end
`

const reply = `local eA,aL=0,#KEYS
local aV={}
for b=1,aL do
as[b]=as[b]or''
aV[b]=#as[b]
end
for N=1,#co do aV[aL+N]=co[N]end
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
return O..table.concat(as,'',1,aL)..table.concat(aY)..pack('>I7',q)
`

const window = `local cA,dv,by=s'window-value'
local cU,cW,dm,du=s('window-adopt',by)
return function(a,e,aR)
local ad,ai,fl=d[e+1],d[e+2],d[e+5]
local g,U=0,0
local n,L,z,J,aB
if a then
n,L,z,J,g=cA(a)
if n then n,L,z,J,aB=cU(n,L,z,J,e)end
end
if not(n and q<n)then
n,z,J=cW(n,z,J,e)
L=0
end
local ao,aF,P,aW,cD=dm(n,L,z,J,e)
local dB,ar=q-ao,ai
if fl>0 and dB<fl then
if dB<0 then dB=0 end
local dD=math.floor(dB*d[e+6]/d[e+7])
if dD<1000000 then dD=1000000 end
if dD<ar then ar=dD end
end
if g>q then aR=0 end
while U<aR and P+ad<=ar do
P,U=P+ad,U+1
end
if U>0 then
L,z=aF+P,aW
J=du(cD,L,ai)
elseif not aB then
return 0
end
local j=by(n,z,J)
if g>j then j=g end
return U,dv(n,L,z,J,g),j
end
`

const counter = `local cy,de=s'counter-value'
local cT,cQ,dr=s'counter-adopt'
return function(a,e,aR)
local ad,ai,D=d[e+1],d[e+2],d[e+3]
local g,U,S,z,aA=0,0,0,D,0
local n,Q,aB
if a then
n,Q,S,z,aA,g=cy(a)
if n then
n,Q,S,z,aA,aB=cT(n,Q,S,z,aA,e)
end
end
if not(n and q<n)then
n,Q,S=cQ(n,Q,S,D)
z,aA=D,0
end
local au=ai-dr(n,S,z,e)
if g>q then aR=0 end
while U<aR and Q+ad<=au do
Q,U=Q+ad,U+1
end
if U==0 and not aB then return 0 end
local j=n
if Q>0 then j=n+z end
if g>j then j=g end
return U,de(n,Q,S,z,aA,g),j
end
`

const record = `local cz,dn=s'record-value'
local an=s'block-value'
return function(a,e,aR,F,bS)
local F,g=cz(a)
if aR==0 or g and q<g+60000000 then return 0 end
if a and an(a)>q then return 0 end
local L,I=d[e+3],{}
for o=1,L do
local ax,t=d[e+2+2*o],d[e+3+2*o]
I[o]={ax,t,t,0,bS and bS[#bS-L+o]or 0}
end
local j=q+d[e+1]
return 1,dn(q,j,d[e+2],I),j+60000000
end
`

const slots = `local an,bj,bk=s'block-value'
local dT=4000
local function cx(a,A)
local C,u=ac('>I3I4',a,A)
return(C-2097152)*4294967296+u
end
local function br(at)
local u=at%4294967296
return pack('>I3I4',2097152+(at-u)/4294967296,u)
end
local function ep(a)
local g,K=0,a or''
if a then g,K=an(a)end
local G=#K
if string.byte(K)~=3 or G%35~=22 then
return nil,nil,'',0,q,K==''and g or 0
end
local x,H=cx(K,9),cx(K,16)
local k,A=q,23
if x>q then k=x end
while A<G and cx(K,A+21)<=k do A=A+35 end
local P=0
for cd=A,G,35 do P=P+cx(K,cd+14)end
return x,H,string.sub(K,A),P,k,g
end
local function ei(t,dh)
local A=string.find(t,dh,1,true)
while A and A%35~=1 do A=string.find(t,dh,A+1,true)end
return A
end
local function bb(t,cd,g)
local A=#t+1
while A>1 and cx(t,A-14)>g do A=A-35 end
return string.sub(t,1,A-1)..cd..string.sub(t,A)
end
local function es(k,H,t,g)
local j=H+1
if t~=''then j=math.max(j,cx(t,#t-13))end
local a='\\3'..pack('>I7',j)..br(k)..br(H)..t
if g>0 then a=bk(a,g)end
return a,math.max(j,g),j
end
local function dR(a,e,aR,bY)
local ad,ai=(bY or 0)+d[e+1],d[e+2]
local U,bN,j=0,nil,nil
while U<aR do
local x,H,t,P,k,g=ep(a)
if g>q or ad>ai then break end
local dh=br(d[e+5])..br(d[e+6])
if d[e+4]==0 or not ei(t,dh)then
if P+ad>ai or#t>=dT*35 then break end
H=x and math.max(k,H+1)or k
local n=k+d[e+3]
t=bb(t,dh..br(ad)..br(n)..br(H),n)
a,j=es(k,H,t,g)
bN=a
end
U=U+1
end
return U,bN,j
end
local function cB(a,bJ,dl)
local x,H,t,F,k,g=ep(a)
local A=x and ei(t,br(bJ)..br(dl))
if not A then return nil end
t=string.sub(t,1,A-1)..string.sub(t,A+35)
local w,j,bI=es(k,H,t,g)
if bI<=k then return false,g end
return w,j
end
local function dL(a,bJ,dl,aX)
local x,H,t,F,k,g=ep(a)
local A=x and ei(t,br(bJ)..br(dl))
if not A or k+aX<=cx(t,A+21)then return nil end
local cd=string.sub(t,A,A+20)..br(k+aX)..string.sub(t,A+28,A+34)
t=bb(string.sub(t,1,A-1)..string.sub(t,A+35),cd,k+aX)
return es(k,H,t,g)
end
return dR,cB,dL
`

const log = `local R=...
local aU,aN,dg=R.aU,R.aN,R.dg
local ck,cS,db=s('log-adopt',R)
local function eM(c,e,B,H,dj,P,ad)
local o=dg(c,aN(c,B-1)+P+ad-d[e+2],B)
if o<H then dj=aU(c,o)end
return dj+d[e+3]
end
local function dS(c,e,B,H,dj,P)
local ai=d[e+2]
local cO,cP=0,0
if ai>P then cO=math.floor((ai-P)/1000000)end
if P>0 then cP=dj+d[e+3]-q end
local W=(cO+1)*1000000
if W>ai then return cO,cP,cP end
return cO,eM(c,e,B,H,dj,P,W)-q,cP
end
local function eb(c,e,ad)
local ai=d[e+2]
local k,B,P=cS(c,e)
if ad>ai-P then
if ad>ai then return 2,0,dS(c,e,B,c.G,c.l,P)end
return 1,eM(c,e,B,c.G,k,P,ad)-q,dS(c,e,B,c.G,c.l,P)
end
local aD=db(c,e,B,k,ad)
local H=c.G
if aD.cI then H=H-1 end
local cO,gc,cP=dS(c,e,B,H,k,P+ad)
return 0,0,cO,gc,cP,aD
end
local function ez(c,e)
local F,B,P=cS(c,e)
return dS(c,e,B,c.G,c.l,P)
end
return ck,eb,ez
`

const holdChange = `local dA=...
local T,E,aG,remove,ap=s'state'
local ah=s('drop',E,remove,ap)
local an=s'block-value'
local cz,dn=s'record-value'
local dy=9000000000000000
local cl,Y,aH,bu
local cB,dL
local function gh(f,h,k,v,i,m,p,t,ab,af)
if ab>t then
local au=0
if f<k or(f==k and h==0)then
au=p+aH(f,h,i,m,k)
else
local z,w=Y(i,m,p,0)
z,w=f-z,h-w
if w<0 then z,w=z-1,w+i end
au=aH(z,w,i,m,k)
end
local W=math.min(ab-t,au)
if W<=0 then return t end
local z,w=Y(i,m,W,0)
return t+W,-1,z,w
end
local eS,eT=f,h
if f<k then eS,eT=k,0 end
local au,w=Y(i,m,p,0)
au,w=au-(eS-af),w-eT
if w<0 then au,w=au-1,w+i end
if ab==t or au<0 or(au==0 and w==0)then return ab end
local I=(t-ab)%1000000
local bF,cV=bu(i,m,(t-ab-I)/1000000)
local W
W,cV=Y(i,m,I,cV)
bF=bF+W
if bF<au or(bF==au and cV<=w)then
if t-ab>2*p then bF,cV=Y(i,m,2*p,0)end
return ab,1,bF,cV
end
if v then
local bV
if w>0 then bV=aH(0,i-w,i,m,au+1)else bV=aH(0,0,i,m,au)end
au,w=Y(i,m,bV,0)
end
return ab,1,au,w
end
local function dO(b,e,t,ab,af)
if not cl then cl,Y,aH,bu=s('bucket-change',T,E,ah)end
local i,m,p,aI,aw=dA(e)
local al
local function eu(f,h,k,v)
local aQ,z,cR
al,aQ,z,cR=gh(f,h,k,v,i,m,p,t,ab,af)
return aQ,z,cR
end
cl(b,i,m,p,aI,aw,true,eu)
return al
end
local function gi(b,e,t,ab,F,l)
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
local function ge(b,e,t,ab,F,l)
local al
s('counter-change',T,E,ah)(b,e,function(bm,Q,S,z,er)
local eR=l>=bm-z
local ej=not eR and l>=bm-2*z
local ak
if ab<t then
ak=math.min(t-ab,eR and Q or ej and S or 0)
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
local function gf(b,e,t,ab,F,l)
local cZ,cm,dp,eq,R=s('log-change',E,aG,ah)
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
local o=R.cb(c,l-1,B)
if l<=bd or o==c.G then return cm(c,e,B,k,W)end
eq(c,o,{[o]=-W})
return true
end)
return al
end
local function eH(b,fE,...)
local a=T(b)
if a and an(a)==dy then return true end
local w,j=fE(a,...)
if w then E(b,w,j)elseif w==false then ah(b,j)end
end
local aO={[0]=dO,gi,ge,gf,dO}
local function fO(b,e)
if d[e]==3 then
local F,F,F,F,R=s('log-change',E,aG,ah)
return R.aJ(b).g==dy
end
local a=T(b)
return a and an(a)==dy
end
local function eG(N,B,Z)
for call=1,Z do
if d[B+3*call-3]==N[1]then return B+3*call-3,call end
end
end
local function gg(M,B,Z,I,l,gm)
for F,N in ipairs(I)do
local o,call=eG(N,B,Z)
if o then
local e,ab=d[o+1],d[o+2]
if d[e]==7 then
if eH(M+call,cB,d[B-2],d[B-1])then return true end
N[3]=0
elseif not gm then
local al=aO[d[e]](M+call,e,N[2],ab,N[5],l)
if not al then return true end
N[3],N[4]=al,math.max(0,ab-al)
end
end
end
end
local function fW(M,B,Z,I,aX)
for call=1,Z do
local ax,e=d[B+3*call-3],d[B+3*call-2]
for F,N in ipairs(I)do
if N[1]==ax and d[e]==7 then
if eH(M+call,dL,d[B-2],d[B-1],aX)then return true end
break
end
end
end
end
local function fL(M,B,Z)
if Z<2 then return false end
for call=1,Z do
if fO(M+call,d[B+3*call-2])then return true end
end
end
return function(M,bt,B,Z)
local a=T(M)
if a and an(a)==dy then return 5,0,{}end
local l,j,bi,I=cz(a)
if not l or q>=j+60000000 then return 0,0,{}end
if bi==1 then return 4,j,I end
if q>=j then
for F,N in ipairs(I)do
local o=eG(N,B,Z)
if bt==-1 and o then N[4]=math.max(0,d[o+2]-N[3])end
end
return 3,j,I
end
if fL(M,B,Z)then return 5,0,{}end
if not cB then
local F
F,cB,dL=s'slots'
end
local dQ=2
if bt<0 then
if gg(M,B,Z,I,l,bt==-2)then return 5,0,{}end
bi=1
else
if fW(M,B,Z,I,bt)then return 5,0,{}end
dQ,j=1,math.max(j,q+bt)
end
E(M,dn(l,j,bi,I),j+60000000)
return dQ,j,I
end
`

export const adjustProgram: Program = {
  sha1: '09a279546d2a98e5d219dd6015b447298084d938',
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
local T,E,aG,remove,ap=s'state'
local ah=s('drop',E,remove,ap)
local function eE(b,e,aQ)
local cl=s('bucket-change',T,E,ah)
`,
      bucketDescriptor,
      `return cl(b,i,m,p,aI,aw,false,function(F,F,k)
if aQ>0 and bg>=0 and bg<=k-aI then return nil end
return aQ,ad,cF
end)
end
local function fz(b,e,aQ)
local ak,ai=d[e+1],d[e+2]
return s('window-change',T,E,ah)(b,e,function(P,ao)
if aQ<0 then return-math.max(0,math.min(2*ai-P,ak))end
if bg>=0 and bg<ao then return 0 end
return math.min(ak,P)
end)
end
local function fw(b,e,aQ)
local ak,ai=d[e+1],d[e+2]
return s('counter-change',T,E,ah)(b,e,function(bm,Q,S,z,er)
if aQ<0 then return-math.max(0,math.min(2*ai-Q-er,ak)),0 end
if bg>=0 and bg<bm-2*z then return 0,0 end
local ao=bm-z
local cK,dk=math.min(Q,ak),0
if bg>=0 and bg<ao then cK=0 end
if bg<ao then dk=math.min(S,ak-cK)end
return cK,dk
end)
end
local function fx(b,e,aQ)
local cZ,cm,dp=s('log-change',E,aG,ah)
local ak=d[e+1]
return cZ(b,e,function(c,k,B,P)
if aQ>0 then return dp(c,B,k-d[e+3],ak,bg)>0 end
local bb=math.min(ak,2*d[e+2]-P)
if bb>0 then cm(c,e,B,k,bb)end
end)
end
local function fy(b)
local an=s'block-value'
local a=T(b)
return a and an(a)==9000000000000000
end
local aO={[0]=eE,fz,fw,fx,eE,[7]=fy}
local bD={}
for o=1,d[3]do
local e=d[2+2*o]
if aO[d[e]](o,e,d[3+2*o])then bD[#bD+1]=o end
end
return bD
`,
    ].join(''),
}

export const blockProgram: Program = {
  sha1: '604f2ae94bc9b229eb3d034c7ec38a0790cedace',
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
local T,E,aG,remove,F,ct=s'state'
local an,bj=s'block-value'
local ev=s'state-until'
local function go(a)
local cg,cX=s'bucket-value'
local Y,aq=s'bucket-flow'
local aK,aP,cr=s('bucket-leases',Y,aq)
local f,h,x,r,i,m,p,F,v=cg(a,0)
if not v then return nil,''end
local k=q
if x>q then k=x end
f,h,v=aP(f,h,i,m,p,v,k)
if not v then return nil,''end
f,h=aq(-math.huge,0,i,m,p-aK(v),k)
a=cX(f,h,k,r,i,m,p,0,v)
return cr(f,h,k,r,i,m,p,v),a
end
local D=d[2]
local bD={}
local function fD(b)
local R=s('log-value',E,aG)
local c=R.aJ(b)
if D<0 or not c.bw then return c.g,''end
c.g=0
if D>0 then c.g=q+D end
call('SETRANGE',KEYS[b],0,R.O(c,c.av))
aG(b,R.j(c))
end
for b=1,#KEYS do
local aM,a=ct and ct(b),nil
if aM then a=T(b)else a=redis.pcall('GETRANGE',KEYS[b],0,2047)end
if type(a)~='string'then a=''end
if#a==2048 and string.byte(a)~=2 then a=call('GET',KEYS[b])end
local g,K,j=0,a,nil
if string.byte(a)==2 then
g,K=fD(b)
elseif a~=''then
g,K=an(a)
j=ev(a)
if g==9000000000000000 then
g=0
if D>=0 then bD[#bD+1],K=b,nil end
elseif not j and K~=''then
g,K=0,''
end
end
if K then
if D<0 then
j,K=go(K)
elseif D>0 then
g=q+D
else
g=0
end
if g>0 then
if K~=''then
E(b,bj(g)..K,math.max(g,j))
elseif g>q then
E(b,bj(g),g)
elseif aM then
call('HSET',KEYS[b],aM,bj(g))
else
call('SET',KEYS[b],bj(g),'KEEPTTL')
end
elseif K~=''then
E(b,K,j)
elseif a~=''or D<0 then
remove(b)
end
end
end
return bD
`,
    ].join(''),
}

export const bucketsProgram: Program = {
  sha1: '8377cd7686ac54dc2e0ee8c7a441e444717f1252',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,ac,format=struct.pack,struct.unpack,string.format
local bP=call('TIME')
local q=bP[1]*1000000+bP[2]
local bB
local function et(q,pack,ac)
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
local aI=(I+aw)/i
local aL,fF,ap=#KEYS,#ARGV>5,ARGV[5]+0
local as=KEYS.ae or aL==1 and call('MGET',KEYS[1])or aL>1 and call('MGET',unpack(KEYS))or{}
local co,aY,aR={},{},1
local bO,dX
for b=1,aL do
local a=as[b]
if fF then aR=ARGV[5+b]+0 end
`,
      bucketStep,
      `if bN then call('SET',KEYS[b],bN,'PXAT',format('%d',(j+ap)/1000+1))end
co[b]=U
end
`,
      reply,
    ].join(''),
}

export const cellsProgram: Program = {
  sha1: '591d3728951d28b736b0a4c7eb22dec23f9f70c2',
  source: () =>
    [
      ``,
      clock,
      `local eJ,ar=d[2],d[3]
local ce=call('INFO','server')..call('INFO','replication')
local bh=string.match(ce,'run_id:(%x+)')..'-'..string.match(ce,'master_replid:(%x+)')..'-'
local aT=call('GET',KEYS[1])
local bL=aT and string.match(aT,'^%S+')or''
if string.sub(bL,1,#bh)~=bh then bL=bh end
local bo={}
local eV=call('ZRANGEBYSCORE',KEYS[5],math.floor(eJ/64),'+inf','LIMIT',0,ar+1)
for o=1,#eV do
local bR,fA=KEYS[5]..':'..eV[o],'('..string.format('%.0f',eJ)
local W=call('ZRANGEBYSCORE',bR,fA,'+inf','LIMIT',0,ar-#bo)
for ax=1,#W do bo[#bo+1]=W[ax]end
if#bo==ar then break end
end
local ae={bL,q,aT,aT and call('GET',KEYS[2]),(call('GET',KEYS[3])or 0)+0}
ae[6],ae[7]=#bo<ar and 1 or 0,call('HLEN',KEYS[4])
local bp=#bo>0 and call('HMGET',KEYS[4],unpack(bo))
for o=1,#bo do
if bp[o]then
ae[#ae+1]=bo[o]
ae[#ae+1]=bp[o]
end
end
return ae
`,
    ].join(''),
}

export const consumeProgram: Program = {
  sha1: '4dbb56df49b79ac1e49ad740c5660599663678b8',
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
local bB
local function et()
return s'bucket'
end
local function bl(a,e,aR,bY)
`,
      bucketDescriptor,
      `local bO,dX
if d[e]==5 then
bO,dX=d[e+8],d[e+9]+(bY or 0)
end
`,
      bucketStep,
      `return U,bN,j,f
end
aO[0],aO[4],aO[5]=bl,bl,bl
end
return aO[ds]
end
local bT=d[3]
local T,E,aG
if ARGV[2]or ci~=0 or bT<#KEYS or bT>4000 then T,E,aG=s'state'end
local as={}
if KEYS.ae then
as=KEYS.ae
elseif ARGV[2]and ARGV[2]~=''then
for b=1,bT do as[b]=T(b)end
elseif bT>0 then
as=call('MGET',unpack(KEYS,1,math.min(bT,4000)))
for b=4001,bT do as[b]=T(b)end
end
local bn,j={},{}
local bU,G={},0
local dc,dZ={},d[2]%2
for o=5+d[4]-(d[2]-dZ)/2,4+d[4]do dc[d[o]]=true end
local co={}
local function eD(l,Z,O,x)
for o=l,l+2*Z-2,2 do
local b,e=d[o],d[o+1]
if d[e]==3 then
bU[O+3],bU[O+4],bU[O+5]=R.gn(x[b],e)
O=O+5
end
end
end
local aV={}
local function fM(e)
local aX,t=d[e+1],d[e+5]
local cC=d[e+3]==1 and aX<1099511627776 and t<1099511627776
aV[e]=cC and pack('>BI7I5I4I5',8+d[e+2],q,aX,d[e+4],t)
return aV[e]
end
local function ga(b,e,bv,bE)
local O=aV[bE]
if O==nil then O=fM(bE)end
if d[bE+3]~=1 or bn[bv]or as[bv]or dc[b]or dc[bv]then return end
local U,a,bI,af=(aO[d[e]]or dE(d[e]))(bn[b]or as[b],e,1)
if U==0 then return end
local dd=(af or 0)~=0 and af-q+549755813888 or 0
local bs='>I5'
if not O or dd<0 or dd>=1099511627776 or(dd==0 and(af or 0)~=0)then
O=pack('>BI7I7I4I7',10+d[bE+2],q,d[bE+1],d[bE+4],d[bE+5])
dd,bs=(af or 0)~=0 and af-q+4503599627370496 or 0,'>I7'
end
bn[b],j[b]=a,bI
bn[bv],j[bv]=O..pack(bs,dd),q+d[bE+1]+60000000
return 1
end
local fv={[0]=true,true,true,[4]=true}
local function fK(l,Z)
if Z==2 and d[d[l+3]]==6 and fv[d[d[l+1]]]then
local U=ga(d[l],d[l+1],d[l+2],d[l+3])
if U then return U end
end
local aJ=true
local aL,g,x,az,eI,bS={},{},{},{},{},{}
local O=G
for o=l,l+2*Z-2,2 do
local b,e=d[o],d[o+1]
if d[e]==3 then
if not x[b]then x[b]=R.cE(R.fd(b),e)end
local c,ad=x[b],(az[b]or 0)+d[e+1]
az[b]=ad
local em
em,bU[G+2],bU[G+3],bU[G+4],bU[G+5],eI[b]=
R.fG(c,e,ad)
bU[G+1]=em
G=G+5
bS[#bS+1]=0
if em>0 or c.g>q then aJ=false end
elseif aJ then
local bY=d[e]~=7 and aL[b]or bn[b]or as[b]
local U,a,bI,af=
(aO[d[e]]or dE(d[e]))(bY,e,1,az[b],bS)
bS[#bS+1]=af or 0
if U==0 then aJ=false else aL[b],g[b]=a,bI end
if d[e]==5 then az[b]=(az[b]or 0)+d[e+9]end
if d[e]==7 then az[b]=(az[b]or 0)+d[e+1]end
end
end
if aJ then
for o=l,l+2*Z-2,2 do
if dc[d[o]]and not as[d[o]]then return 0 end
end
if dZ==0 then eD(l,Z,O,x)end
for b,a in pairs(aL)do bn[b],j[b]=a,g[b]end
for b,aD in pairs(eI)do R.aD(b,x[b],aD)end
return 1
end
eD(l,Z,O,x)
for o=l,l+2*Z-2,2 do
local b,e=d[o],d[o+1]
if d[e]~=3 then
local F,a,bI=(aO[d[e]]or dE(d[e]))(bn[b]or as[b],e,0)
if a then bn[b],j[b]=a,bI end
end
end
return 0
end
if bT<#KEYS then
local bq,aJ=s('log-value',E,aG),{}
local ck,eb,ez=s('log',bq)
R={
fd=function(b)
if not aJ[b]then aJ[b]=bq.aJ(b)end
return aJ[b]
end,
cE=ck,
fG=eb,
gn=ez,
aD=function(b,c,aD)
aJ[b]=c
bq.aD(c,aD)
end,
dN=function()
for F,c in pairs(aJ)do
if c.ee then bq.dN(c)end
end
end,
}
for b=bT+1,#KEYS do
local c=R.fd(b)
as[b]=(c.bw or c.g>0)and c.g
end
end
local l,H=5+d[4],#d
while l<=H do
local Z=d[l]
local B,eL,e,aR=1,1,0,1
if Z==0 then e,B,eL,aR=d[l+1],d[l+2],d[l+3],d[l+4]end
for b=B,eL do
local U,a,bI
if Z==0 then
U,a,bI=(aO[d[e]]or dE(d[e]))(bn[b]or as[b],e,aR)
if dc[b]and not as[b]then
U=0
elseif a then
bn[b],j[b]=a,bI
end
else
U=fK(l+1,Z)
end
co[#co+1]=U
end
l=l+5
if Z>0 then l=l-4+2*Z end
end
if dZ==1 then
local H,fs
for b,a in pairs(bn)do
if E then
E(b,a,j[b])
else
if j[b]~=H then H,fs=j[b],string.format('%d',j[b]/1000+1)end
call('SET',KEYS[b],a,'PXAT',fs)
end
end
if R then R.dN()end
end
for b=bT+1,#KEYS do as[b]=as[b]and pack('>I7',as[b])end
local aY=bU
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
  sha1: '34621eeccd39ce9ff3f9fa18b40ea50a009591a3',
  source: () =>
    [
      `do
local call,KEYS,ARGV=redis.call,KEYS,ARGV
local sub,byte,ac=string.sub,string.byte,struct.unpack
local H=#ARGV
local bs=ARGV[H]%4
local ay=(ARGV[H]-bs)/4
local aT,dP=ARGV[ay+1],ARGV[ay+2]+0
local bK=#KEYS
local eP=KEYS[bK]..':rows'
if bs%2==1 then
local ce=call('INFO','server')..call('INFO','replication')
local bh=string.match(ce,'run_id:(%x+)')..'-'..string.match(ce,'master_replid:(%x+)')..'-'
local bv=call('GET',KEYS[bK])
if bv and sub(bv,1,#bh)~=bh then call('DEL',KEYS[bK])end
if sub(aT,1,#bh)~=bh then return{0}end
end
local ae=call('MGET',unpack(KEYS,1,math.min(bK,4000)))
for M=4001,bK do ae[M]=call('MGET',KEYS[M])[1]end
if ae[bK]~=aT then return{0}end
local eo=#KEYS[bK]-5
local l,dY,bM,q=ay+4,0,nil,nil
local dW=bs>=2
local eK=not dW and l>=H
while not eK do
local i,m,p,bi,B,ca
if dW then
i,m,p,bi,B=ARGV[1]+0,ARGV[2]+0,ARGV[3]+0,ARGV[ay+3]+0,1
ca=l<H and bK-1 or 1-bK
else
i,m,p=ARGV[l]+0,ARGV[l+1]+0,ARGV[l+2]+0
bi,B,ca=ARGV[l+3]+0,ARGV[l+4]+0,ARGV[l+5]+0
l=l+6
end
local L=ca>0 and ca or-ca
local bo={}
for cL=0,L-1 do
local M=KEYS[B+cL]
local A=byte(M,eo)==123 and eo+5 or eo
bo[cL+1]=sub(M,i>0 and A or A+5)
end
local bq=call('HMGET',eP,unpack(bo,1,math.min(L,4000)))
for ax=4001,L do bq[ax]=call('HGET',eP,bo[ax])end
for cL=0,L-1 do
dY=dY+1
local bp,a,bc=bq[cL+1],ae[B+cL],ca>0 and ARGV[l+cL]or'0'
local bQ
if bc=='0'then bQ=not bp else bQ=bp and sub(bp,1,#bc)==bc end
if bQ and i>0 then
local O=a and byte(a)
if O and O>=224 then a=sub(a,8)end
local G=a and#a or 0
if G==0 then
if not q then
q=dW and 0 or ARGV[ay+3]+0
if q==0 then
local bP=call('TIME')
q=bP[1]*1000000+bP[2]
end
end
bQ=q>=bi
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
bQ=C and x>=dP and dJ==i and dI==m and cJ==p
end
end
if not bQ then
bM=bM or{}
bM[#bM+1]=dY
end
end
if ca>0 then l=l+ca end
eK=l>=H
end
if bM then return bM end
KEYS[bK]=nil
for o=H,ay+1,-1 do ARGV[o]=nil end
KEYS.ae=ae
end
`,
    ].join(''),
}

export const holdsProgram: Program = {
  sha1: '59d79cbbd5456f85b3423c811fccd402a9beb6d5',
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
local bG,E
if not ARGV[2]and#KEYS<=4000 then
bG={}
local as=call('MGET',unpack(KEYS))
for b=1,#KEYS do bG[KEYS[b]]=as[b]end
if ci~=0 then
local F
F,E=s'state'
end
end
local function dw(b,a,j)
bG[KEYS[b]]=a
if E then return E(b,a,j)end
call('SET',KEYS[b],a,'PXAT',string.format('%d',j/1000+1))
end
local function dA(e)
`,
      bucketDescriptor,
      `return i,m,p,aI,aw
end
local function dO(b,e,t,ab,af)
local i,m,p,aI,aw=dA(e)
local bd,W=q-aI,(ab-t)*m
if aI>1000000000000000 or W>p*m or-W>p*m then return end
local a,f,h=bG[KEYS[b]],bd,aw
local C,u
if a then
local V,H,r,ag,aa,am
if#a==12 then
C,u,V,ag,am=ac('>I3I4I3BB',a)
h,aa,am=0,1,am*1000000
elseif#a==28 then
C,u,h,V,ag,aa,am=ac('>I3I4I3I5I3I5I5',a)
elseif#a==49 then
C,u,h,H,r,ag,aa,am=ac('>I3I4I7I7I7I7I7I7',a)
if r>0 then return end
else
return
end
if ag~=i or aa~=m or am~=p or C<6291456 or C>=10485504 or h>=i then return end
f=(C-8388608)*4294967296+u
if(H or f+V)>q or f>=q then return end
if f<bd or(f==bd and h<=aw)then f,h=bd,aw end
end
if W==0 then return true end
if W<0 then
local U=(q-af)*i
if U>9000000000000000 or U<-9000000000000000 then return end
local au=p*m-U
if au<=0 then return true end
if-W>au then return end
end
local aj=h+W%i
local w=aj%i
f,h=f+(W-W%i)/i+(aj-w)/i,w
local V=q-f
local j=f+aI
if h>aw then j=j+1 end
if j<=q then
bG[KEYS[b]]=false
call('DEL',KEYS[b])
return true
end
if V<0 then return end
u=f%4294967296
C=8388608+(f-u)/4294967296
if V>=1099511627776 or i>=16777216 or p>=1099511627776 then
dw(b,pack('>I3I4I7I7I7I7I7I7',C,u,h,q,0,i,m,p),j)
return true
end
if m==1 and h==0 and V<16777216 and i<256 and p<256000000 and p%1000000==0 then
dw(b,pack('>I3I4I3BB',C,u,V,i,p/1000000),j)
else
dw(b,pack('>I3I4I3I5I3I5I5',C,u,h,V,i,m,p),j)
end
return true
end
local function aP(M,bt,B)
local a,e=bG[KEYS[M]],d[B+1]
if bt>=0 or d[e]~=0 or not a then return end
local bz,l,z,ax,t,af=string.byte(a),nil,nil,nil,nil,0
local cc,fg=549755813888,'>I5I5'
if bz==8 and#a==27 then
l,z,ax,t,af=ac('>I7I5I4I5I5',a,2)
elseif bz==10 and#a==33 then
l,z,ax,t,af=ac('>I7I7I4I7I7',a,2)
cc,fg=4503599627370496,'>I7I7'
end
if af==0 or ax~=d[B]or q>=l+z then return end
local j,ab=l+z,bt==-1 and d[B+2]or t
if ab>=1099511627776 then return end
if bt==-1 and not dO(M+1,e,t,ab,l+af-cc)then return end
a=string.sub(a,2)
if ab==t then
dw(M,string.char(bz+1)..a,j+60000000)
else
dw(M,string.char(bz+5)..a..pack(fg,ab,0),j+60000000)
end
return j,t,ab
end
local bc
local aY={}
local M,cw=1,3
for F=1,d[2]do
local bt,Z=d[cw],d[cw+1]
local g,t,al
if bG and Z==1 then g,t,al=aP(M,bt,cw+4)end
if g then
aY[#aY+1]=pack('>I7I7I7I7I7',2,g,t,al,0)
else
bc=bc or s('hold-change',dA)
local dQ,j,I=bc(M,bt,cw+4,Z)
aY[#aY+1]=pack('>I7I7',dQ,j)
for call=1,Z do
local t,al,cf=0,0,0
for o=#I,1,-1 do
local N=I[o]
if N[1]==d[cw+3*call+1]then t,al,cf=N[2],N[3],N[4]end
end
aY[#aY+1]=pack('>I7I7I7',t,al,cf)
end
for b=M,M+Z do
local w=bG and redis.pcall('GET',KEYS[b])
if bG then bG[KEYS[b]]=type(w)=='string'and w end
end
end
M,cw=M+1+Z,cw+4+3*Z
end
return table.concat(aY)
`,
    ].join(''),
}

export const leaseProgram: Program = {
  sha1: '34ebde82def4598aa54b381f4a6d25ecf0731dd7',
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
local bl=s'bucket'
local Y,aq,aH,aK=bl.Y,bl.aq,bl.aH,bl.aK
local dT=64
local function gp(v,aC)
local bY=#v+1
for o,dl in ipairs(v)do
if dl[4]>aC[4]then
bY=o
break
end
end
table.insert(v,bY,aC)
return v
end
local function fJ(b,a,l)
local i,m,p=d[l],d[l+1],d[l+2]
local eU,ar,cd,fq,fQ=d[l+3],d[l+4],d[l+5],d[l+6],d[l+7]
local k,g=q,0
local f,h,x,r,v,da
if a then
local ag,aa,am
f,h,x,r,ag,aa,am,g,v=bl.T(a,0)
if f and(ag~=i or aa~=m or am~=p)then
f,h,x,r,v=bl.cE(f,h,x,r,ag,aa,am,i,m,p,v)
da=true
end
if f and x>q then k=x end
end
if g>q then ar=0 end
local cM,ay={},nil
local bM=false
if v then
local gk,gj,bi=bl.aP(f,h,i,m,p,v,k)
for F,aC in ipairs(bi or{})do
if aC[1]==cd then ay=aC else cM[#cM+1]=aC end
end
bM=ay and fq<=ay[2]
if not bM then f,h,v,da=gk,gj,bi,true end
end
local cp=0
if not bM then
local aE,fo,ey=0,0,k+fQ
if ay then
aE=math.min(d[l+8],ay[3])
fo=math.min(d[l+9],ay[3]-aE)
ey=math.max(ey,ay[4])
local bF,w=Y(i,m,fo,0)
h=h-w
if h<0 then bF,h=bF+1,h+i end
local be=aK(cM)+aE
f,h=aq(f-bF,h,i,m,p-be,k)
if x<k then x=k end
v=cM
end
local dF=0
if ar>=eU and(ay or#cM<dT)then
dF=p
if f then
local fI,eg=aq(f,h,i,m,p,k)
dF=aH(fI,eg,i,m,k)
end
end
if dF>=eU then cp=math.min(ar,dF)end
if cp>0 then
local u,cs=aq(-math.huge,0,i,m,p,k)
if not f then
f,h,r=u,cs,0
elseif f<u or(f==u and h<=cs)then
if r>0 and k>=math.max(x,f)+r then r=0 end
f,h=u,cs
end
local z,w=Y(i,m,cp,h)
f,h,x=f+z,w,k
end
if aE+cp>0 then v=gp(cM,{cd,fq,aE+cp,ey})end
da=da or cp>0
end
if da then
if v and#v==0 then v=nil end
if not f then
ah(b,g)
else
local j=bl.j(f,h,x,r,i,m,p,v or{})
if g>j then j=g end
E(b,bl.a(f,h,x,r,i,m,p,g,v),j)
end
end
return cp
end
local as,aY,co={},{},{}
for o=1,#KEYS do
as[o]=T(o)
aY[o]=fJ(o,as[o],3+(o-1)*d[2])
end
`,
      reply,
    ].join(''),
}

export const needsProgram: Program = {
  sha1: '0f3ce55835bbb24d30e33c66b6810a702b7a9b5c',
  source: () =>
    [
      ``,
      clock,
      `local ef=call('HGETALL',KEYS[1])
local ae,bQ={},false
for o=1,#ef,2 do
local fi,aU=ef[o],ef[o+1]
local l=tonumber(string.match(aU,'^%d+'))
if fi==d[2]then
bQ=true
elseif q-l>d[3]or l-q>d[3]then
call('HDEL',KEYS[1],fi)
else
ae[#ae+1]=string.sub(aU,18)
end
end
if d[5]==''then
call('HDEL',KEYS[1],d[2])
elseif bQ or#ae<d[4]then
call('HSET',KEYS[1],d[2],string.format('%016.0f ',q)..d[5])
call('PEXPIRE',KEYS[1],math.ceil(d[3]/1000))
end
return ae
`,
    ].join(''),
}

export const regionProgram: Program = {
  sha1: 'e1ae24302451f5f66014534cf246d2769bf6ca4a',
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
local ce=call('INFO','server')..call('INFO','replication')
local bh=string.match(ce,'run_id:(%x+)')..'-'..string.match(ce,'master_replid:(%x+)')..'-'
local aT=call('GET',KEYS[1])
local bv=aT and call('GET',KEYS[2])
if not bv then aT=''end
local b=6
local cq=#KEYS>=b
local a=cq and T(b)
local ax=cq and string.sub(KEYS[b],#KEYS[1]-5)
if cq and string.byte(ax)==123 then ax=string.sub(ax,6)end
local bp=cq and call('HGET',KEYS[4],ax)
local ec=a and redis.sha1hex(a)or''
local bc=bp and tonumber(string.match(bp,'^%d+'))or 0
local bL=string.match(aT,'^%S+')or''
if string.sub(bL,1,#bh)~=bh then
local k=call('TIME')
local fX=d[3]==aT and string.sub(d[2],1,#bh)==bh
bL=fX and d[2]or bh..string.format('%x%05x',k[1],k[2])
end
local dq=d[2]==bL and d[3]==aT
if dq and cq then dq=(d[5]==ec or d[7]=='-')and d[6]==bc end
if not dq then return{bL,q,aT,bv,a,ec,bp}end
local aE=not cq or d[10]=='-'or d[10]==''
if not aE and bc==0 and call('HLEN',KEYS[4])>=d[11]then return 0 end
local at=call('INCR',KEYS[3])
if d[4]~=''then
call('SET',KEYS[1],bL..' '..at..' ')
call('SET',KEYS[2],d[4])
end
if not cq then return at end
if d[7]~='-'then
local ah=s('drop',E,remove,ap)
local F,F,bk=s'block-value'
local eF=string.gsub(d[7],'..',function(ed)
return string.char(tonumber(ed,16))
end)
local g,j=d[8],d[9]
if eF==''then ah(b,g)else E(b,bk(eF,g),math.max(g,j))end
end
if d[10]~='-'and bc>0 then
local bR=math.floor(bc/64)
call('ZREM',KEYS[5]..':'..bR,ax)
if call('EXISTS',KEYS[5]..':'..bR)==0 then call('ZREM',KEYS[5],bR)end
end
if d[10]==''then
call('HDEL',KEYS[4],ax)
elseif d[10]~='-'then
bp=at..' '..d[10]
call('HSET',KEYS[4],ax,bp)
local bR=math.floor(at/64)
call('ZADD',KEYS[5]..':'..bR,at,ax)
call('ZADD',KEYS[5],bR,bR)
end
if d[7]=='-'then return{bL,q,aT,bv,a,ec,bp}end
return at
`,
    ].join(''),
}

export const releaseProgram: Program = {
  sha1: '780814ab0c8370710d4bd70a4a799b8890833385',
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
local F,cB=s'slots'
local bD={}
for b=1,#KEYS do
local a=T(b)
if a and an(a)==9000000000000000 then
bD[#bD+1]=b
else
local w,j=cB(a,d[2*b],d[2*b+1])
if w then E(b,w,j)elseif w==false then ah(b,j)end
end
end
return bD
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
  sha1: '8ff5b28ba00447c1236f917c59ea605e8b0f332a',
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
local aL=#KEYS
local ae={}
for b=1,aL do
local a=T(b)
ae[b],ae[aL+b]=a,a and redis.sha1hex(a)or''
end
if#d==1 then
ae[2*aL+1]=q
return ae
end
for b=1,aL do
if ae[aL+b]~=d[4*b-2]then return 0 end
end
local F,bj,bk=s'block-value'
local fa,fV=q+2000000,1+q%1000000000
for b=1,aL do
local a=string.gsub(d[4*b-1],'..',function(ed)
return string.char(tonumber(ed,16))
end)
local g,j=d[4*b],d[4*b+1]
if a==''then
E(b,bj(g>q and g or fV),math.max(g,fa))
else
if string.byte(a)~=2 then a=bk(a,g)end
E(b,a,math.max(g,j,fa))
end
end
return 1
`,
    ].join(''),
}
