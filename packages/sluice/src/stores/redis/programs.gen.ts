// Made from the programs beside this file by `npm run generate`; edit those, not this.

/** A program: its digest, and its text, which is put together only for a server that does not know it. */
export interface Program {
  readonly sha1: string
  readonly source: () => string
}

const clock = `local call,KEYS=redis.call,KEYS
local pack,ac=struct.pack,struct.unpack
local d=cjson.decode(ARGV[1])
local cd=d[1]
local bK=cd==0 and call('TIME')
local q=bK and bK[1]*1000000+bK[2]or cd
`

const state = `local fg,fe,aF,fh,ao,cD=s'strings'
local dF=ARGV[2]and ARGV[2]~=''and cjson.decode(ARGV[2])
if not dF then
return fg,fe,aF,fh,ao
end
local cC,dW=s'packed-value'
local function co(b)
if dF[2*b]<0 then return nil end
return pack('>I4I4',dF[2*b-1],dF[2*b])
end
local function T(b)
local aM=co(b)
if not aM then return fg(b)end
local ap=redis.pcall('HMGET',KEYS[b],aM,'')
if ap.err then return false end
return ap[1]and cC(ap[1],ap[2]or'')
end
local function fR(N,aM,a,j)
local M=redis.pcall('HGET',N,'')
if type(M)=='table'then call('DEL',N)end
if type(M)~='string'or#M<6 or(#M-6)%13>0 then M=false end
local cj,bd=dW(a,M and string.sub(M,7)or'')
local H=M and ac('>I6',M)or 0
local ba
if cd==0 and H*1000>=j then
if#M==6+#bd then
ba=call('HSET',N,aM,cj)
else
ba=call('HSET',N,aM,cj,'',string.sub(M,1,6)..bd)
end
else
local eh=j+math.max(0,j-q)/4
ba=call('HSET',N,aM,cj,'',pack('>I6',math.max(H,math.floor(eh/1000)))..bd)
if cd~=0 and M then
call('PEXPIREAT',N,cD(eh),'GT')
else
call('PEXPIREAT',N,cD(eh))
end
end
if ba>0 and cd==0 and q%16==0 then
s('sweep',cC,ao)(N)
end
end
local function E(b,a,j)
local aM=co(b)
if aM then return fR(KEYS[b],aM,a,j+ao)end
fe(b,a,j)
end
local function remove(b)
local aM=co(b)
if not aM then
fh(b)
elseif type(redis.pcall('HGET',KEYS[b],aM))~='table'then
call('HDEL',KEYS[b],aM)
end
end
return T,E,aF,remove,ao,co
`

const strings = `local ao=(ARGV[3]or 0)+0
local function T(b)
local a=redis.pcall('GET',KEYS[b])
return type(a)=='string'and a
end
local function cD(j)
if cd==0 then return math.floor(j/1000)+1 end
local k=call('TIME')
return k[1]*1000+math.ceil(math.max(0,j-q)/1000)+60000
end
local function E(b,a,j)
call('SET',KEYS[b],a,'PXAT',cD(j+ao))
end
local function aF(b,j)
call('PEXPIREAT',KEYS[b],cD(j+ao))
end
local function remove(b)
call('DEL',KEYS[b])
end
return T,E,aF,remove,ao,cD
`

const packedValue = `local function cC(a,M)
local G=#a
if G~=13 and G~=14 then return a end
local C,u,V,o=ac('>I3I4I5B',a)
if C<6291456 or C>=10485760 or#M<6+13*o or o<1 then return a end
local i,m,p=ac('>I3I5I5',M,13*o-6)
local g=0
if G==14 then g=string.byte(a,14)end
return pack('>I3I4I3I5I3I5I5',C,u,g,V,i,m,p)
end
local function dW(a,bd)
if#a~=28 then return a,bd end
local C,u,g,V=ac('>I3I4I3I5',a)
if C<6291456 or C>=10485760 or g>255 then return a,bd end
local by,o=string.sub(a,16),0
for l=1,#bd,13 do
if string.sub(bd,l,l+12)==by then o=(l+12)/13 end
end
if o==0 then
if#bd>51 then return a,bd end
bd=bd..by
o=#bd/13
end
local cj=pack('>I3I4I5B',C,u,V,o)
if g>0 then cj=cj..string.char(g)end
return cj,bd
end
return cC,dW
`

const sweep = `local cC,ao=...
local am=s'block-value'
local er=s'state-until'
return function(N)
local bJ=call('HRANDFIELD',N,128,'WITHVALUES')
local M=call('HGET',N,'')
for o=1,#bJ,2 do
local a=cC(bJ[o+1],M)
local f=am(a)
if bJ[o]~=''and(er(a)or 0)+ao<=q and f+ao<=q then call('HDEL',N,bJ[o])end
end
end
`

const blockValue = `local function am(a)
local f,K=0,a
if#a>=7 then
local C,u=ac('>I3I4',a)
if C>=14680064 then f,K=(C-14680064)*4294967296+u,string.sub(a,8)end
end
if string.byte(K)==1 then return 9000000000000000,''end
return f,K
end
local function bg(f)
local u=f%4294967296
return pack('>I3I4',14680064+(f-u)/4294967296,u)
end
local function bh(a,f)
if f+60000000<=q then return a end
return bg(f)..a
end
return am,bg,bh
`

const stateUntil = `local am=s'block-value'
local cb=s'bucket-value'
local X,aq=s'bucket-flow'
local F,F,cm=s('bucket-leases',X,aq)
local cv,F,bs=s'window-value'
local ct=s'counter-value'
local cu=s'record-value'
return function(a)
local h,g,x,r,i,m,p,F,v=cb(a,0)
if h then return cm(h,g,x,r,i,m,p,v or{})end
local n,F,D,J=cv(a)
if n then return bs(n,D,J)end
local bj,P,F,y=ct(a)
if bj and P>0 then return bj+y end
local F,eK=cu(a)
if eK then return eK+60000000 end
local F,K=am(a)
if string.byte(K)==3 then return(ac('>I7',K,2))end
return bj
end
`

const bucketValue = `local am,F,bh=s'block-value'
local function fI(g,x,r,i,m,p)
if g>=i or x>9007199254740991 or r>3200000000000000 then return false end
if m<1 or p<1 or m>9007199254 then return false end
return i*(p/1000000+2)<=9007199254740992 and p/i*m<=3200000000000000
end
local function cb(a,f)
local G=#a
local C,u,g,V,x,r,i,m,p
if G==12 then
C,u,V,i,p=ac('>I3I4I3BB',a)
g,r,m,p=0,0,1,p*1000000
elseif G==28 then
C,u,g,V,i,m,p=ac('>I3I4I3I5I3I5I5',a)
r=0
elseif G>=49 and(G-49)%28==0 then
C,u,g,x,r,i,m,p=ac('>I3I4I7I7I7I7I7I7',a)
end
if C and C>=6291456 and C<10485760 then
local h,v=(C-8388608)*4294967296+u,nil
x=x or h+V
if not fI(g,x,r,i,m,p)then return nil,nil,nil,nil,nil,nil,nil,0 end
for l=50,G,28 do
v=v or{}
v[#v+1]={ac('>I7I7I7I7',a,l)}
end
return h,g,x,r,i,m,p,f,v
end
local et,K=am(a)
if et==0 or f>0 then return nil,nil,nil,nil,nil,nil,nil,0 end
if K==''then return nil,nil,nil,nil,nil,nil,nil,et end
return cb(K,et)
end
local function cS(h,g,x,r,i,m,p,f,v)
local u,V=h%4294967296,x-h
local C=8388608+(h-u)/4294967296
local a
if r>0 or v or V<0 or V>=1099511627776 or i>=16777216 or p>=1099511627776 then
a=pack('>I3I4I7I7I7I7I7I7',C,u,g,x,r,i,m,p)
for F,aB in ipairs(v or{})do a=a..pack('>I7I7I7I7',aB[1],aB[2],aB[3],aB[4])end
elseif m==1 and g==0 and V<16777216 and i<256 and p<256000000 and p%1000000==0 then
a=pack('>I3I4I3BB',C,u,V,i,p/1000000)
else
a=pack('>I3I4I3I5I3I5I5',C,u,g,V,i,m,p)
end
if f>0 then return bh(a,f)end
return a
end
return cb,cS
`

const bucketFlow = `local function X(i,m,bw,A)
local ce=m*1000000
local dq,eR=ce%i,m%i
local I=bw%1000000
local br=(bw-I)/1000000
local ai=A+br*dq+I*eR
local w=ai%i
return br*((ce-dq)/i)+I*((m-eR)/i)+(ai-w)/i,w
end
local function fb(i,m,fn,A,z)
local Q=0
if z<=0 then return Q end
local ed=(z-A/i)/(m*fn/i)*(1-2^-50)
if ed>0 then Q=ed-ed%1 end
while true do
local aW,w=X(i,m,(Q+1)*fn,A)
if aW>z or(aW==z and w>0)then return Q end
Q=Q+1
end
end
local function aq(h,g,i,m,bw,k)
if bw<0 then bw=0 end
local z,w=X(i,m,bw,0)
local u,cn=k-z,0
if w>0 then u,cn=u-1,i-w end
if h>u or(h==u and g>=cn)then return h,g end
return u,cn
end
local function aG(h,g,i,m,k)
local br=fb(i,m,1000000,g,k-h)
local aW,w=X(i,m,br*1000000,g)
h,g=h+aW,w
local I=fb(i,m,1,g,k-h)
return br*1000000+I,h,g,I
end
local function bo(i,m,br)
local ce=m*1000000
local g=ce%i
local bX=g%131072
local bD=br*((g-bX)/131072)
local B=bD%i
local cT=B*131072+br*bX
local w=cT%i
return br*((ce-g)/i)+(bD-B)/i*131072+(cT-w)/i,w
end
local function bB(i,m,p,k)
return math.min(k+3155760000000000,9007199254740990-(X(i,m,p,0)))
end
return X,aq,aG,bo,bB
`

const bucketLeases = `local X,aq=...
local function aJ(v)
local bc=0
for F,aB in ipairs(v)do bc=bc+aB[3]end
return bc
end
local function aP(h,g,i,m,p,v,k)
local bc,w=aJ(v),{}
for F,aB in ipairs(v)do
if aB[4]<=k and#w==0 then
h,g=aq(h,g,i,m,p-bc,aB[4])
bc=bc-aB[3]
else
w[#w+1]=aB
end
end
if#w==0 then return h,g,nil end
h,g=aq(h,g,i,m,p-bc,k)
return h,g,w
end
local function cm(h,g,x,r,i,m,p,v)
local bc=aJ(v)
for F,aB in ipairs(v)do
h,g=aq(h,g,i,m,p-bc,aB[4])
bc=bc-aB[3]
end
local aW,w=X(i,m,p,g)
local j=h+aW
if w>0 then j=j+1 end
if r>0 and x+r>j then j=x+r end
return j
end
return aJ,aP,cm
`

const windowValue = `local am,F,bh=s'block-value'
local function cv(a)
local f,K=0,a
if#a~=21 then f,K=am(a)end
if#K==21 then
local C,u,Q,J,y=ac('>I3I4I7BI6',K)
y=J%16*281474976710656+y
if C>=10485760 and C<12582912 and y>0 then
return(C-10485760)*4294967296+u,Q,y,math.floor(J/16),f
end
end
if K==a then f,K=am(a)end
return nil,nil,nil,nil,K==''and f or 0
end
local function ds(n,Q,y,J,f)
local u,cx=n%4294967296,y%281474976710656
local es=J*16+(y-cx)/281474976710656
local a=pack('>I3I4I7BI6',10485760+(n-u)/4294967296,u,Q,es,cx)
if f>0 then return bh(a,f)end
return a
end
local function bs(n,y,J)
if J>2 then return n+y end
return n+math.ceil(y/(J==2 and 4 or J==1 and 16 or 64))
end
return cv,ds,bs
`

const counterValue = `local am,F,bh=s'block-value'
local function ct(a)
local f,K=0,a
if#a~=28 then f,K=am(a)end
if#K==28 then
local C,u,P,S,az,y=ac('>I3I4I7I7BI6',K)
y=az%16*281474976710656+y
if C>=12582912 and C<14680064 and y>0 then
return(C-12582912)*4294967296+u,P,S,y,math.floor(az/16),f
end
end
if K==a then f,K=am(a)end
return nil,nil,nil,nil,nil,K==''and f or 0
end
local function cZ(n,P,S,y,az,f)
local u,cx=n%4294967296,y%281474976710656
local es=az*16+(y-cx)/281474976710656
local a=pack('>I3I4I7I7BI6',12582912+(n-u)/4294967296,u,P,S,es,cx)
if f>0 then return bh(a,f)end
return a
end
return ct,cZ
`

const recordValue = `local ex,du,ey=1099511627776,549755813888,4503599627370496
local function cu(a)
local bt,G=a and string.byte(a),a and#a
if not bt or bt<8 or bt>15 or G<13 then return nil end
local bp=bt%2
local aV,Z=bt%4>1,bt>11
local aw=aV and'I7'or'I5'
local l,z,A=ac('>I7'..aw,a,2)
local bW='>I4'..aw..aw
if Z then bW=bW..aw..aw end
local fl=4+(Z and 4 or 2)*(aV and 7 or 5)
if(G-A+1)%fl>0 then return nil end
local I={}
for B=A,G,fl do
local bN,t,ae,ak,ca=ac(bW,a,B)
if not Z then ak,ca=t,0 end
if ae>0 then ae=l+ae-(aV and ey or du)end
I[#I+1]={bN,t,ak,ca,ae}
end
return l,l+z,bp,I
end
local function dj(l,j,bp,I)
local aV,Z=j-l>=ex,false
for F,L in ipairs(I)do
local t,ak,ca,ae=L[2],L[3],L[4],L[5]
if ak~=t or ca>0 then Z=true end
if math.max(t,ak,ca)>=ex or ae~=0 and(ae<=l-du or ae>=l+du)then aV=true end
end
local aw=aV and'I7'or'I5'
local bW='>I4'..aw..aw
local a=pack('>BI7'..aw,8+bp+(aV and 2 or 0)+(Z and 4 or 0),l,j-l)
for F,L in ipairs(I)do
local ae=L[5]
if ae~=0 then ae=ae-l+(aV and ey or du)end
a=a..pack(bW,L[1],L[2],ae)
if Z then a=a..pack('>'..aw..aw,L[3],L[4])end
end
return a
end
return cu,dj
`

const drop = `local E,remove,ao=...
local F,bg=s'block-value'
return function(b,f)
if f>q then return E(b,bg(f),f)end
if ao>0 then return E(b,bg(1),q)end
remove(b)
end
`

const bucketChange = `local T,E,ag=...
local cb,cS=s'bucket-value'
local X,aq,aG,bo,bB=s'bucket-flow'
local aJ,aP,cm=s('bucket-leases',X,aq)
local function ch(b,i,m,p,aH,av,ge,eq)
local k,f=q,0
local a=T(b)
local h,g,x,r,v,aA
if a then
local af,aa,al
h,g,x,r,af,aa,al,f,v=cb(a,0)
if f==9000000000000000 then return true end
if h and(af~=i or aa~=m or al~=p)then
local dS=s('bucket-adopt',X,aq,aG,bo,bB,aJ,aP)
h,g,x,r,v=dS(h,g,x,r,af,aa,al,i,m,p,v)
aA=true
end
if h and x>q then k=x end
end
if v then
aA=aA or ge
h,g,v=aP(h,g,i,m,p,v,k)
end
local A,dA,aL,u=h,g,r,k-aH
if not h then
A,dA,aL=u,av,0
elseif h<u or(h==u and g<=av)then
A,dA=u,av
if r>0 and k>=x+r then aL=0 end
end
local aQ,z,cM=eq(A,dA,k,v)
if not aQ then
if not aA then return end
if not h then return ag(b,f)end
else
h,g,r=A,dA,aL
local ax,cq=k+aH,0
if av>0 then ax,cq=ax-1,i-av end
local bu=bB(i,m,p,k)
if ax>bu or(ax==bu and cq>0)then ax,cq=bu,0 end
if h>ax or(h==ax and g>cq)then ax,cq=h,g end
local ai=g-aQ*cM
local w=ai%i
h,g,x=h-aQ*z+(ai-w)/i,w,k
if aQ<0 and(h>ax or(h==ax and g>cq))then h,g=ax,cq end
if v then h,g=aq(h,g,i,m,p-aJ(v),k)end
end
local j=h+aH
if g>av then j=j+1 end
if r>0 and x+r>j then j=x+r end
if v then
j=cm(h,g,x,r,i,m,p,v)
elseif j<=k then
return ag(b,f)
end
if f>j then j=f end
E(b,cS(h,g,x,r,i,m,p,f,v),j)
end
return ch,X,aG,bo
`

const bucketAdopt = `local X,aq,aG,bo,bB,aJ,aP=...
local function dS(h,g,x,r,af,aa,al,i,m,p,v)
local k=q
if x>q then k=x end
if v then
h,g,v=aP(h,g,af,aa,al,v,k)
end
local eJ,ec=X(af,aa,al,0)
local bk,fA=X(af,aa,al,g)
local f=h+bk
if fA>0 then f=f+1 end
if r>0 and x+r>f then f=x+r end
if f<=k then return nil end
local dE=eJ
if ec>0 then dE=eJ+1 end
h,g=aq(h,g,af,aa,al,k)
local da=0
if h>k or(h==k and g>0)then
local ce=aa*1000000
local dq=ce%af
da=math.min(9007199256,math.floor((h-k+1)/((ce-dq)/af+dq/af))+1)
local E,fS=bo(af,aa,da)
h,g=h-E,g-fS
if g<0 then h,g=h-1,g+af end
end
local bw,I
bw,h,g,I=aG(h,g,af,aa,k)
local L=(k-h)*af-g-I*aa
local ao=0
if da==0 and bw>=p then
bw=p
elseif L>0 then
local bX=m%131072
local bD=L*((m-bX)/131072)
local cT=(bD%aa)*131072+L*bX
ao=(bD-bD%aa)/aa*131072+(cT-cT%aa)/aa
end
local z,cM=X(i,m,bw,0)
local dT=cM+ao
if r>dE then dE=r end
h,g=k-z-(dT+(-dT)%i)/i,(-dT)%i
if da>0 then
local fM,fN=bo(i,m,da)
h,g=h+fM,g+fN
if g>=i then h,g=h+1,g-i end
end
local bu=bB(i,m,p,k)
if h>bu or(h==bu and g>0)then h,g=bu,0 end
if v then
h,g=aq(h,g,i,m,p-aJ(v),k)
end
return h,g,k,dE,v
end
return dS
`

const windowChange = `local T,E,ag=...
local cv,ds,bs=s'window-value'
local cP,cR,di,dr=s('window-adopt',bs)
return function(b,e,fu)
local ah=d[e+2]
local f=0
local a=T(b)
local n,Q,z,J,aA
if a then
local bq
n,Q,z,J,f=cv(a)
if f==9000000000000000 then return true end
bq=n
if n then n,Q,z,J,aA=cP(n,Q,z,J,e)end
if bq and not n then ag(b,f)end
end
local H,aV,cy,ay=n,z,J,Q
if not(n and q<n)then
H,aV,cy=cR(n,z,J,e)
ay=0
end
local an,aE,O
an,aE,O,aV,cy=di(H,ay,aV,cy,e)
local aj=fu(O,an)
if aj~=0 then
ay,aA=aE+O-aj,true
if aj>0 and ay==0 and cy<4 then return ag(b,f)end
n,Q,z,J=H,ay,aV,dr(cy,ay,ah)
end
if not aA then return end
E(b,ds(n,Q,z,J,f),math.max(bs(n,z,J),f))
end
`

const windowAdopt = `local bs=...
local function eI(e,k)
local D=d[e+3]
if d[e+4]==1 then return k+D end
local dN=k-d[e+8]
return dN-dN%D+D+d[e+8]
end
local function cP(n,Q,y,J,e)
local D=d[e+3]
if y==D and J<5 then return n,Q,y,J,false end
if q>=n then
if q>=bs(n,y,J)then return nil end
return n,Q,y,J,false
end
if J==6 then
if D<=y then return n,Q,y,J,false end
return n,9007199254740991,D,4,true
end
if y==D then return n,Q,y,4,true end
if D<y and J>=4 then return n,Q,y,J,false end
local H=eI(e,q)
if D>y and d[e+4]==1 then
H=n-y+D
elseif n>H then
H=n
end
return H,Q,math.max(y,D),4,true
end
local function cR(n,y,J,e)
local D,as=d[e+3],eI(e,q)
if not n or q>=bs(n,y,J)then return as,D,0 end
if D>y then return math.max(as,n+y),D,4 end
if D<y and J<5 then return n+y,y,5 end
if d[e+4]~=1 and as-D<n then as=as+D end
return as,D,0
end
local function di(n,Q,y,J,e)
local ah,D,L=d[e+2],d[e+3],0
if J>=5 and D<y then
L=math.max(0,math.min(math.floor((q-n+y)/D),math.floor(y/D)-1))
end
local an,aE=n-y+L*D,L*ah
local O=math.max(0,Q-aE)
if J==6 or J==5 and aE>9007199254740991-2*ah then return an,0,O,n-an,6 end
return an,aE,O,y,J
end
local function dr(J,Q,ah)
if J>=4 then return J end
if Q*4>ah then return 3 end
return Q*16>ah and 2 or Q*64>ah and 1 or 0
end
return cP,cR,di,dr
`

const counterChange = `local T,E,ag=...
local ct,cZ=s'counter-value'
local cO,cL,dn=s'counter-adopt'
return function(b,e,fv)
local D=d[e+3]
local f=0
local a=T(b)
local n,P,S,z,az,aA
if a then
local bq
n,P,S,z,az,f=ct(a)
if f==9000000000000000 then return true end
bq=n
if n then
n,P,S,z,az,aA=cO(n,P,S,z,az,e)
end
if bq and not n then ag(b,f)end
end
local aL=n and q<n
local bj,eU,ei=cL(n,P,S,D)
if not aL then z,az=D,0 end
local cG,dg=fv(bj,eU,ei,z,dn(bj,ei,z,e))
if cG~=0 or dg~=0 then
n,P,S,aA=bj,eU-cG,ei-dg,true
if P+S==0 then return ag(b,f)end
end
if not aA then return end
local j=n
if P>0 then j=n+z end
E(b,cZ(n,P,S,z,az,f),math.max(j,f))
end
`

const counterAdopt = `local function cL(n,P,S,D)
if n and q<n then return n,P,S end
if not n or q>=n+D then return q-q%D+D,0,0 end
return n+D,0,P
end
local function cO(n,P,S,y,az,e)
local D=d[e+3]
if y==D then
if az==0 or q>=n then return n,P,S,y,az,false end
return n,P,S,y,0,true
end
if y>D and q<n then return n,P,S,y,az,false end
n,P,S=cL(n,P,S,y)
if y>D and az==0 then
if S==0 then return nil end
return n,P,S,y,1,true
end
n=n-y+D
if q>=n or P+S==0 then return nil end
return n,P,S,D,0,true
end
local function dn(n,S,y,e)
if S==0 then return 0 end
local cI=d[e+4]
if y~=d[e+3]then
cI=1
while y/cI>1000000 do cI=cI*10 end
end
local dK=math.floor(y/cI)
local w=math.min(dK,math.ceil((n-q)/cI))
local br=math.floor(S/1000000)
local fd=br*w
local bQ=math.floor(fd/dK)
local g=(fd-bQ*dK)*1000000+(S-br*1000000)*w
return bQ*1000000+math.ceil(g/dK)
end
return cO,cL,dn
`

const logChange = `local E,aF,ag=...
local R=s('log-value',E,aF)
local cf,cN,cW=s('log-adopt',R)
local dk,em=s('log-refund',R,ag,E)
local function cU(b,e,bm)
local aY=R.aI(b)
if aY.f==9000000000000000 then return true end
local c=cf(aY,e)
if aY.bq and not c.bq then ag(b,c.f)end
local k,B,O=cN(c,e)
if not bm(c,k,B,O)and c.ea then R.dL(c)end
end
local function ci(c,e,B,k,ad)
R.aC(c,cW(c,e,B,k,ad))
end
return cU,ci,dk,em,R
`

const logValue = `local E,aF=...
local am=s'block-value'
local aZ,aS,bR,bS=47,14,64,4503599627370496
local function eS(b,f)
return{b=b,G=0,au=0,aE=0,l=0,ai=0,y=0,r=0,f=f,aY=0,dw=true}
end
local function fL(b)
local N,c=KEYS[b],eS(b,0)
local a=redis.pcall('GETRANGE',N,0,aZ+bR*aS-1)
if type(a)~='string'then return c end
local D=#a
if D==aZ+bR*aS then D=call('STRLEN',N)end
if D<aZ or string.byte(a)~=2 or(D-aZ)%aS>0 then
local f,K=am(a)
if K==''then c.f=f end
return c
end
local F,f,y,r,aE,l,ai,au=ac('>BI7I7I7I7I7I7I4',a)
local aY=(D-aZ)/aS
if au>aY or y<1 then return c end
c.bq,c.dw,c.aY,c.G=true,false,aY,aY+1
c.f,c.y,c.r,c.aE,c.l,c.ai,c.au=f,y,r,aE,l,ai,au
c.ek={[0]=string.sub(a,aZ+1)}
return c
end
local function aT(c,o)
if o==c.G-1 then return c.l,c.ai end
if o==c.aY then return c.eY,c.eZ end
local eV=o%bR
local aw=(o-eV)/bR
local dI=c.ek[aw]
if not dI then
local A=aZ+aw*bR*aS
dI=call('GETRANGE',KEYS[c.b],A,A+bR*aS-1)
c.ek[aw]=dI
end
local l,ai=ac('>I7I7',dI,eV*aS+1)
return l,ai
end
local function aN(c,o)
if o<c.au then return 0 end
local F,ai=aT(c,o)
return(ai-c.aE)%bS
end
local function bV(c,fG,A)
local u,C=A,c.G
while u<C do
local cp=math.floor((u+C)/2)
if aT(c,cp)>fG then C=cp else u=cp+1 end
end
return u
end
local function db(c,ai,A)
local u,C=A,c.G
while u<C do
local cp=math.floor((u+C)/2)
if aN(c,cp)>=ai then C=cp else u=cp+1 end
end
return u
end
local function ci(c,aC)
local A=aC.A
c.ea,c.bq,c.y,c.r=true,true,aC.y,aC.r
if A==c.G then
c.dw,c.aY,c.G,c.au,c.aE,c.l,c.ai=true,0,1,0,0,aC.k,aC.ad
return
end
if A>c.au then
local F,aE=aT(c,A-1)
c.aE,c.au=aE,A
end
if not aC.cE then
c.eY,c.eZ,c.G=c.l,c.ai,c.G+1
end
c.l,c.ai=aC.k,(c.ai+aC.ad)%bS
end
local function eQ(c,au)
return pack('>BI7I7I7I7I7I7I4',2,c.f,c.y,c.r,c.aE,c.l,c.ai,au)
end
local function eP(c)
local j=c.l+c.y
if c.r>c.y then j=c.l+c.r end
if c.f>j then j=c.f end
return j
end
local function fW(c)
local j=eP(c)
local Z=c.G-1>c.aY
local ba=''
if Z and c.au<=c.aY then ba=pack('>I7I7',c.eY,c.eZ)end
local au=c.au
local bQ=c.dw or c.aY<=bR or au>c.G-au
if bQ then au=0 end
local M=eQ(c,au)
if bQ then
local bU=''
if not c.dw then
if c.aY<=bR then
bU=string.sub(c.ek[0],c.au*aS+1)
else
bU=call('GETRANGE',KEYS[c.b],aZ+c.au*aS,-1)
end
end
return E(c.b,M..bU..ba,j)
end
call('SETRANGE',KEYS[c.b],0,M)
if Z then call('APPEND',KEYS[c.b],ba)end
aF(c.b,j)
end
return{
aZ=aZ,
aS=aS,
bS=bS,
fK=eS,
aI=fL,
aT=aT,
aN=aN,
bV=bV,
db=db,
aC=ci,
M=eQ,
j=eP,
dL=fW,
}
`

const logAdopt = `local R=...
local bV,aN=R.bV,R.aN
local fo=10000
local function cf(c,e)
local D=d[e+3]
if not c.bq or c.y==D then return c end
local r=c.y
if c.r>r then r=c.r end
if c.l+r<=q then
return R.fK(c.b,c.f)
end
c.y,c.ea=D,true
if r>D then c.r=r else c.r=0 end
return c
end
local function cN(c,e)
local k=q
if c.l>q then k=c.l end
local B=bV(c,k-d[e+3],c.au)
return k,B,aN(c,c.G-1)-aN(c,B-1)
end
local function cW(c,e,B,k,ad)
local A,r,ax=B,c.r,d[e+4]
if r>0 then A,ax=bV(c,k-r,c.au),fo end
local aL=c.G-A
local cE=aL>0 and c.l==k
if not cE and aL>=ax then
if A<B then A=A+1 else cE=true end
end
if aL==0 then r=0 end
return{A=A,k=k,cE=cE,ad=ad,y=d[e+3],r=r}
end
return cf,cN,cW
`

const logRefund = `local R,ag,E=...
local aT,aN,aZ,aS,bS=R.aT,R.aN,R.aZ,R.aS,R.bS
local function fj(c,an,ay)
local cc,ai={},(c.aE+aN(c,an-1))%bS
for o=an,c.G-1 do
local g=aN(c,o)-aN(c,o-1)-(ay[o]or 0)
if g>0 then
ai=(ai+g)%bS
cc[#cc+1]={(aT(c,o)),ai}
end
end
local bI=an
if#cc==0 then
if an==c.au then return ag(c.b,c.f)end
bI=an-1
c.l,c.ai=aT(c,bI)
else
c.l,c.ai=unpack(cc[#cc])
end
local bU=''
if bI>c.au then bU=call('GETRANGE',KEYS[c.b],aZ+c.au*aS,aZ+bI*aS-1)end
for o=1,#cc-1 do bU=bU..pack('>I7I7',cc[o][1],cc[o][2])end
E(c.b,R.M(c,0)..bU,R.j(c))
end
local function fU(c,B,bb,aj,be)
local w,an,ay=aj,c.G,{}
local function dP(o)
local L=aN(c,o)-aN(c,o-1)
if L>w then L=w end
ay[o],w=L,w-L
end
if be<0 then
while an>B and w>0 do
an=an-1
dP(an)
end
elseif be>bb then
an=R.bV(c,be-1,B)
for o=an,c.G-1 do dP(o)end
end
if w<aj then fj(c,an,ay)end
return aj-w
end
return fU,fj
`

const bucketDescriptor = `local i,m,p=d[e+1],d[e+2],d[e+3]
local aH,av,ad,cB=d[e+4],d[e+5],d[e+6],d[e+7]
if d[e]==0 then
local I=aH*m
cB=I%i
ad=(I-cB)/i
I=p*m
av=-I%i
aH=(I+av)/i
end
`

const bucket = `local T,a=s'bucket-value'
local X,aq,aG,bo,bB=s'bucket-flow'
local aJ,aP,j=s('bucket-leases',X,aq)
local cz=s('bucket-adopt',X,aq,aG,bo,bB,aJ,aP)
return{
T=T,
a=a,
X=X,
aq=aq,
aG=aG,
bB=bB,
aJ=aJ,
aP=aP,
j=j,
cz=cz,
}
`

const bucketStep = `local k,f,U=q,0,0
local h,g,x,r,v,aA,bH,j
if a then
local G=#a
local C,u,V,af,aa,al,H
if G==12 then
C,u,V,af,al=ac('>I3I4I3BB',a)
g,r,aa,al=0,0,1,al*1000000
elseif G==28 then
C,u,g,V,af,aa,al=ac('>I3I4I3I5I3I5I5',a)
r=0
elseif G==49 then
C,u,g,H,r,af,aa,al=ac('>I3I4I7I7I7I7I7I7',a)
end
local dm=af==i and aa==m and al==p and r==0 and(not H or H<=9007199254740991)
if dm and C>=6291456 and C<10485504 and g<i then
h=(C-8388608)*4294967296+u
x=H or h+V
else
bv=bv or ep(q,pack,ac)
h,g,x,r,af,aa,al,f,v=bv.T(a,0)
end
if h then
if af~=i or aa~=m or al~=p then
h,g,x,r,v=bv.cz(h,g,x,r,af,aa,al,i,m,p,v)
aA=h
end
if h and x>q then k=x end
if v then
h,g,v=bv.aP(h,g,i,m,p,v,k)
end
end
end
local bb=k-aH
if not h then
h,g,r=bb,av,0
elseif h<bb or(h==bb and g<=av)then
h,g=bb,av
if r>0 and k>=x+r then r=0 end
end
local aI,bu=aR,k
if f>q then aI=0 end
if bI and dU<=p-(v and bv.aJ(v)or 0)then bu=k+bI end
while U<aI do
local de,w=h+ad,g+cB
if w>=i then de,w=de+1,w-i end
if de>bu or(de==bu and w>0)then break end
h,g,U=de,w,U+1
end
if U>0 or aA then
j=h+aH
if g>av then j=j+1 end
local V,u=k-h,h%4294967296
if r>0 or f>0 or v then
bv=bv or ep(q,pack,ac)
bH=bv.a(h,g,k,r,i,m,p,f,v)
if v then
j=bv.j(h,g,k,r,i,m,p,v)
elseif r>0 and k+r>j then
j=k+r
end
if f>j then j=f end
elseif V<0 or V>=1099511627776 or i>=16777216 or p>=1099511627776 then
bH=pack('>I3I4I7I7I7I7I7I7',8388608+(h-u)/4294967296,u,g,k,0,i,m,p)
elseif m==1 and g==0 and V<16777216 and i<256 and p<256000000 and p%1000000==0 then
bH=pack('>I3I4I3BB',8388608+(h-u)/4294967296,u,V,i,p/1000000)
else
bH=pack('>I3I4I3I5I3I5I5',8388608+(h-u)/4294967296,u,g,V,i,m,p)
end
end
`

const reply = `local ew,aK=0,#KEYS
local aU={}
for b=1,aK do
ar[b]=ar[b]or''
aU[b]=#ar[b]
end
for L=1,#ck do aU[aK+L]=ck[L]end
for o=1,#aU do
if aU[o]>ew then ew=aU[o]end
end
local M
if ew<256 and#aU<=2000 then
M=string.char(1,unpack(aU))
else
for o=1,#aU do aU[o]=pack('>I4',aU[o])end
M=string.char(4)..table.concat(aU)
end
for o=1,#aX do aX[o]=pack('>I7',aX[o])end
return M..table.concat(ar,'',1,aK)..table.concat(aX)..pack('>I7',q)
`

const window = `local cv,ds,bs=s'window-value'
local cP,cR,di,dr=s('window-adopt',bs)
return function(a,e,aR)
local ad,ah,ff=d[e+1],d[e+2],d[e+5]
local f,U=0,0
local n,Q,z,J,aA
if a then
n,Q,z,J,f=cv(a)
if n then n,Q,z,J,aA=cP(n,Q,z,J,e)end
end
if not(n and q<n)then
n,z,J=cR(n,z,J,e)
Q=0
end
local an,aE,O,aV,cy=di(n,Q,z,J,e)
local dz,ax=q-an,ah
if ff>0 and dz<ff then
if dz<0 then dz=0 end
local dB=math.floor(dz*d[e+6]/d[e+7])
if dB<1000000 then dB=1000000 end
if dB<ax then ax=dB end
end
if f>q then aR=0 end
while U<aR and O+ad<=ax do
O,U=O+ad,U+1
end
if U>0 then
Q,z=aE+O,aV
J=dr(cy,Q,ah)
elseif not aA then
return 0
end
local j=bs(n,z,J)
if f>j then j=f end
return U,ds(n,Q,z,J,f),j
end
`

const counter = `local ct,cZ=s'counter-value'
local cO,cL,dn=s'counter-adopt'
return function(a,e,aR)
local ad,ah,D=d[e+1],d[e+2],d[e+3]
local f,U,S,z,az=0,0,0,D,0
local n,P,aA
if a then
n,P,S,z,az,f=ct(a)
if n then
n,P,S,z,az,aA=cO(n,P,S,z,az,e)
end
end
if not(n and q<n)then
n,P,S=cL(n,P,S,D)
z,az=D,0
end
local at=ah-dn(n,S,z,e)
if f>q then aR=0 end
while U<aR and P+ad<=at do
P,U=P+ad,U+1
end
if U==0 and not aA then return 0 end
local j=n
if P>0 then j=n+z end
if f>j then j=f end
return U,cZ(n,P,S,z,az,f),j
end
`

const record = `local cu,dj=s'record-value'
local am=s'block-value'
return function(a,e,aR,F,bM)
local F,f=cu(a)
if aR==0 or f and q<f+60000000 then return 0 end
if a and am(a)>q then return 0 end
local Q,I=d[e+3],{}
for o=1,Q do
local bN,t=d[e+2+2*o],d[e+3+2*o]
I[o]={bN,t,t,0,bM and bM[#bM-Q+o]or 0}
end
local j=q+d[e+1]
return 1,dj(q,j,d[e+2],I),j+60000000
end
`

const slots = `local am,bg,bh=s'block-value'
local dR=4000
local function cs(a,A)
local C,u=ac('>I3I4',a,A)
return(C-2097152)*4294967296+u
end
local function bl(aw)
local u=aw%4294967296
return pack('>I3I4',2097152+(aw-u)/4294967296,u)
end
local function el(a)
local f,K=0,a or''
if a then f,K=am(a)end
local G=#K
if string.byte(K)~=3 or G%35~=22 then
return nil,nil,'',0,q,K==''and f or 0
end
local x,H=cs(K,9),cs(K,16)
local k,A=q,23
if x>q then k=x end
while A<G and cs(K,A+21)<=k do A=A+35 end
local O=0
for bY=A,G,35 do O=O+cs(K,bY+14)end
return x,H,string.sub(K,A),O,k,f
end
local function ee(t,dd)
local A=string.find(t,dd,1,true)
while A and A%35~=1 do A=string.find(t,dd,A+1,true)end
return A
end
local function ba(t,bY,f)
local A=#t+1
while A>1 and cs(t,A-14)>f do A=A-35 end
return string.sub(t,1,A-1)..bY..string.sub(t,A)
end
local function eo(k,H,t,f)
local j=H+1
if t~=''then j=math.max(j,cs(t,#t-13))end
local a='\\3'..pack('>I7',j)..bl(k)..bl(H)..t
if f>0 then a=bh(a,f)end
return a,math.max(j,f),j
end
local function dP(a,e,aR,bT)
local ad,ah=(bT or 0)+d[e+1],d[e+2]
local U,bH,j=0,nil,nil
while U<aR do
local x,H,t,O,k,f=el(a)
if f>q or ad>ah then break end
local dd=bl(d[e+5])..bl(d[e+6])
if d[e+4]==0 or not ee(t,dd)then
if O+ad>ah or#t>=dR*35 then break end
H=x and math.max(k,H+1)or k
local n=k+d[e+3]
t=ba(t,dd..bl(ad)..bl(n)..bl(H),n)
a,j=eo(k,H,t,f)
bH=a
end
U=U+1
end
return U,bH,j
end
local function cw(a,bD,dh)
local x,H,t,F,k,f=el(a)
local A=x and ee(t,bl(bD)..bl(dh))
if not A then return nil end
t=string.sub(t,1,A-1)..string.sub(t,A+35)
local w,j,bC=eo(k,H,t,f)
if bC<=k then return false,f end
return w,j
end
local function dJ(a,bD,dh,aW)
local x,H,t,F,k,f=el(a)
local A=x and ee(t,bl(bD)..bl(dh))
if not A or k+aW<=cs(t,A+21)then return nil end
local bY=string.sub(t,A,A+20)..bl(k+aW)..string.sub(t,A+28,A+34)
t=ba(string.sub(t,1,A-1)..string.sub(t,A+35),bY,k+aW)
return eo(k,H,t,f)
end
return dP,cw,dJ
`

const log = `local R=...
local aT,aN,db=R.aT,R.aN,R.db
local cf,cN,cW=s('log-adopt',R)
local function eH(c,e,B,H,df,O,ad)
local o=db(c,aN(c,B-1)+O+ad-d[e+2],B)
if o<H then df=aT(c,o)end
return df+d[e+3]
end
local function dQ(c,e,B,H,df,O)
local ah=d[e+2]
local cJ,cK=0,0
if ah>O then cJ=math.floor((ah-O)/1000000)end
if O>0 then cK=df+d[e+3]-q end
local Z=(cJ+1)*1000000
if Z>ah then return cJ,cK,cK end
return cJ,eH(c,e,B,H,df,O,Z)-q,cK
end
local function dX(c,e,ad)
local ah=d[e+2]
local k,B,O=cN(c,e)
if ad>ah-O then
if ad>ah then return 2,0,dQ(c,e,B,c.G,c.l,O)end
return 1,eH(c,e,B,c.G,k,O,ad)-q,dQ(c,e,B,c.G,c.l,O)
end
local aC=cW(c,e,B,k,ad)
local H=c.G
if aC.cE then H=H-1 end
local cJ,fV,cK=dQ(c,e,B,H,k,O+ad)
return 0,0,cJ,fV,cK,aC
end
local function ev(c,e)
local F,B,O=cN(c,e)
return dQ(c,e,B,c.G,c.l,O)
end
return cf,dX,ev
`

const holdChange = `local dx=...
local T,E,aF,remove,ao=s'state'
local ag=s('drop',E,remove,ao)
local am=s'block-value'
local cu,dj=s'record-value'
local dv=9000000000000000
local ch,X,aG,bo
local cw,dJ
local function ga(h,g,k,v,i,m,p,t,ab,ae)
if ab>t then
local at=0
if h<k or(h==k and g==0)then
at=p+aG(h,g,i,m,k)
else
local z,w=X(i,m,p,0)
z,w=h-z,g-w
if w<0 then z,w=z-1,w+i end
at=aG(z,w,i,m,k)
end
local Z=math.min(ab-t,at)
if Z<=0 then return t end
local z,w=X(i,m,Z,0)
return t+Z,-1,z,w
end
local eM,eN=h,g
if h<k then eM,eN=k,0 end
local at,w=X(i,m,p,0)
at,w=at-(eM-ae),w-eN
if w<0 then at,w=at-1,w+i end
if ab==t or at<0 or(at==0 and w==0)then return ab end
local I=(t-ab)%1000000
local bz,cQ=bo(i,m,(t-ab-I)/1000000)
local Z
Z,cQ=X(i,m,I,cQ)
bz=bz+Z
if bz<at or(bz==at and cQ<=w)then
if t-ab>2*p then bz,cQ=X(i,m,2*p,0)end
return ab,1,bz,cQ
end
if v then
local bQ
if w>0 then bQ=aG(0,i-w,i,m,at+1)else bQ=aG(0,0,i,m,at)end
at,w=X(i,m,bQ,0)
end
return ab,1,at,w
end
local function dM(b,e,t,ab,ae)
if not ch then ch,X,aG,bo=s('bucket-change',T,E,ag)end
local i,m,p,aH,av=dx(e)
local ak
local function eq(h,g,k,v)
local aQ,z,cM
ak,aQ,z,cM=ga(h,g,k,v,i,m,p,t,ab,ae)
return aQ,z,cM
end
ch(b,i,m,p,aH,av,true,eq)
return ak
end
local function gb(b,e,t,ab,F,l)
local ak
s('window-change',T,E,ag)(b,e,function(O,an)
local aj=math.min(math.max(0,t-ab),O)
if l<an then aj=0 end
aj=aj-math.max(0,math.min(ab-t,2*d[e+2]-O))
ak=t-aj
return aj
end)
return ak
end
local function fX(b,e,t,ab,F,l)
local ak
s('counter-change',T,E,ag)(b,e,function(bj,P,S,z,en)
local eL=l>=bj-z
local ef=not eL and l>=bj-2*z
local aj
if ab<t then
aj=math.min(t-ab,eL and P or ef and S or 0)
else
local ah=d[e+2]
local at=2*ah-P-en
if ef then at=math.min(at,2*ah-S)end
aj=-math.max(0,math.min(ab-t,at))
end
ak=t-aj
if ef then return 0,aj end
return aj,0
end)
return ak
end
local function fY(b,e,t,ab,F,l)
local cU,ci,dk,em,R=s('log-change',E,aF,ag)
local ak
cU(b,e,function(c,k,B,O)
ak=t
local bb=k-d[e+3]
if ab<t then
local ay=dk(c,B,bb,t-ab,l)
ak=t-ay
return ay>0
end
local Z=math.min(ab-t,2*d[e+2]-O)
if Z<=0 then return end
ak=t+Z
local o=R.bV(c,l-1,B)
if l<=bb or o==c.G then return ci(c,e,B,k,Z)end
em(c,o,{[o]=-Z})
return true
end)
return ak
end
local function eD(b,fx,...)
local a=T(b)
if a and am(a)==dv then return true end
local w,j=fx(a,...)
if w then E(b,w,j)elseif w==false then ag(b,j)end
end
local aO={[0]=dM,gb,fX,fY,dM}
local function fH(b,e)
if d[e]==3 then
local F,F,F,F,R=s('log-change',E,aF,ag)
return R.aI(b).f==dv
end
local a=T(b)
return a and am(a)==dv
end
local function eC(L,B,Y)
for call=1,Y do
if d[B+3*call-3]==L[1]then return B+3*call-3,call end
end
end
local function fZ(N,B,Y,I,l,gf)
for F,L in ipairs(I)do
local o,call=eC(L,B,Y)
if o then
local e,ab=d[o+1],d[o+2]
if d[e]==7 then
if eD(N+call,cw,d[B-2],d[B-1])then return true end
L[3]=0
elseif not gf then
local ak=aO[d[e]](N+call,e,L[2],ab,L[5],l)
if not ak then return true end
L[3],L[4]=ak,math.max(0,ab-ak)
end
end
end
end
local function fP(N,B,Y,I,aW)
for call=1,Y do
local bN,e=d[B+3*call-3],d[B+3*call-2]
for F,L in ipairs(I)do
if L[1]==bN and d[e]==7 then
if eD(N+call,dJ,d[B-2],d[B-1],aW)then return true end
break
end
end
end
end
local function fE(N,B,Y)
if Y<2 then return false end
for call=1,Y do
if fH(N+call,d[B+3*call-2])then return true end
end
end
return function(N,bn,B,Y)
local a=T(N)
if a and am(a)==dv then return 5,0,{}end
local l,j,bp,I=cu(a)
if not l or q>=j+60000000 then return 0,0,{}end
if bp==1 then return 4,j,I end
if q>=j then
for F,L in ipairs(I)do
local o=eC(L,B,Y)
if bn==-1 and o then L[4]=math.max(0,d[o+2]-L[3])end
end
return 3,j,I
end
if fE(N,B,Y)then return 5,0,{}end
if not cw then
local F
F,cw,dJ=s'slots'
end
local dO=2
if bn<0 then
if fZ(N,B,Y,I,l,bn==-2)then return 5,0,{}end
bp=1
else
if fP(N,B,Y,I,bn)then return 5,0,{}end
dO,j=1,math.max(j,q+bn)
end
E(N,dj(l,j,bp,I),j+60000000)
return dO,j,I
end
`

export const adjustProgram: Program = {
  sha1: 'ad47b442ba6a51a1cf94e9d9363e88d4c6522e07',
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
local be=d[2]
local T,E,aF,remove,ao=s'state'
local ag=s('drop',E,remove,ao)
local function eA(b,e,aQ)
local ch=s('bucket-change',T,E,ag)
`,
      bucketDescriptor,
      `return ch(b,i,m,p,aH,av,false,function(F,F,k)
if aQ>0 and be>=0 and be<=k-aH then return nil end
return aQ,ad,cB
end)
end
local function ft(b,e,aQ)
local aj,ah=d[e+1],d[e+2]
return s('window-change',T,E,ag)(b,e,function(O,an)
if aQ<0 then return-math.max(0,math.min(2*ah-O,aj))end
if be>=0 and be<an then return 0 end
return math.min(aj,O)
end)
end
local function fq(b,e,aQ)
local aj,ah=d[e+1],d[e+2]
return s('counter-change',T,E,ag)(b,e,function(bj,P,S,z,en)
if aQ<0 then return-math.max(0,math.min(2*ah-P-en,aj)),0 end
if be>=0 and be<bj-2*z then return 0,0 end
local an=bj-z
local cG,dg=math.min(P,aj),0
if be>=0 and be<an then cG=0 end
if be<an then dg=math.min(S,aj-cG)end
return cG,dg
end)
end
local function fr(b,e,aQ)
local cU,ci,dk=s('log-change',E,aF,ag)
local aj=d[e+1]
return cU(b,e,function(c,k,B,O)
if aQ>0 then return dk(c,B,k-d[e+3],aj,be)>0 end
local ba=math.min(aj,2*d[e+2]-O)
if ba>0 then ci(c,e,B,k,ba)end
end)
end
local function fs(b)
local am=s'block-value'
local a=T(b)
return a and am(a)==9000000000000000
end
local aO={[0]=eA,ft,fq,fr,eA,[7]=fs}
local bx={}
for o=1,d[3]do
local e=d[2+2*o]
if aO[d[e]](o,e,d[3+2*o])then bx[#bx+1]=o end
end
return bx
`,
    ].join(''),
}

export const blockProgram: Program = {
  sha1: '1ef31ff8b127fa2f404d49ab14cb2756c03dc37a',
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
local T,E,aF,remove,F,co=s'state'
local am,bg=s'block-value'
local er=s'state-until'
local function gh(a)
local cb,cS=s'bucket-value'
local X,aq=s'bucket-flow'
local aJ,aP,cm=s('bucket-leases',X,aq)
local h,g,x,r,i,m,p,F,v=cb(a,0)
if not v then return nil,''end
local k=q
if x>q then k=x end
h,g,v=aP(h,g,i,m,p,v,k)
if not v then return nil,''end
h,g=aq(-math.huge,0,i,m,p-aJ(v),k)
a=cS(h,g,k,r,i,m,p,0,v)
return cm(h,g,k,r,i,m,p,v),a
end
local D=d[2]
local bx={}
local function fw(b)
local R=s('log-value',E,aF)
local c=R.aI(b)
if D<0 or not c.bq then return c.f,''end
c.f=0
if D>0 then c.f=q+D end
call('SETRANGE',KEYS[b],0,R.M(c,c.au))
aF(b,R.j(c))
end
for b=1,#KEYS do
local aM,a=co and co(b),nil
if aM then a=T(b)else a=redis.pcall('GETRANGE',KEYS[b],0,2047)end
if type(a)~='string'then a=''end
if#a==2048 and string.byte(a)~=2 then a=call('GET',KEYS[b])end
local f,K,j=0,a,nil
if string.byte(a)==2 then
f,K=fw(b)
elseif a~=''then
f,K=am(a)
j=er(a)
if f==9000000000000000 then
f=0
if D>=0 then bx[#bx+1],K=b,nil end
elseif not j and K~=''then
f,K=0,''
end
end
if K then
if D<0 then
j,K=gh(K)
elseif D>0 then
f=q+D
else
f=0
end
if f>0 then
if K~=''then
E(b,bg(f)..K,math.max(f,j))
elseif f>q then
E(b,bg(f),f)
elseif aM then
call('HSET',KEYS[b],aM,bg(f))
else
call('SET',KEYS[b],bg(f),'KEEPTTL')
end
elseif K~=''then
E(b,K,j)
elseif a~=''or D<0 then
remove(b)
end
end
end
return bx
`,
    ].join(''),
}

export const bucketsProgram: Program = {
  sha1: 'ca1f7dd230a726b7cef9afd28f5010648332e3e5',
  source: () =>
    [
      `local call,KEYS,ARGV=redis.call,KEYS,ARGV
local pack,ac,format=struct.pack,struct.unpack,string.format
local bK=call('TIME')
local q=bK[1]*1000000+bK[2]
local bv
local function ep(q,pack,ac)
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
local i,m,p=ARGV[1]+0,ARGV[2]+0,ARGV[3]+0
local I=ARGV[4]*m
local cB=I%i
local ad=(I-cB)/i
I=p*m
local av=-I%i
local aH=(I+av)/i
local aK,fy,ao=#KEYS,#ARGV>5,ARGV[5]+0
local ar=KEYS.ap or aK==1 and call('MGET',KEYS[1])or aK>1 and call('MGET',unpack(KEYS))or{}
local ck,aX,aR={},{},1
local bI,dU
for b=1,aK do
local a=ar[b]
if fy then aR=ARGV[5+b]+0 end
`,
      bucketStep,
      `if bH then call('SET',KEYS[b],bH,'PXAT',format('%d',(j+ao)/1000+1))end
ck[b]=U
end
`,
      reply,
    ].join(''),
}

export const cellsProgram: Program = {
  sha1: '48c55367b1360469d65e4b73d7309067f9f28d9c',
  source: () =>
    [
      ``,
      clock,
      `local bZ=call('INFO','server')..call('INFO','replication')
local bf=string.match(bZ,'run_id:(%x+)')..'-'..string.match(bZ,'master_replid:(%x+)')..'-'
local aD=call('GET',KEYS[1])
local bF=aD and string.match(aD,'^%S+')or''
if string.sub(bF,1,#bf)~=bf then bF=bf end
local eg=call('ZRANGEBYSCORE',KEYS[3],'('..string.format('%.0f',d[2]),'+inf','LIMIT',0,d[3])
local ap={bF,q,aD,(call('GET',KEYS[2])or 0)+0,#eg<d[3]and 1 or 0,call('ZCARD',KEYS[3])}
for o=1,#eg do ap[6+o]=call('GET',eg[o])end
return ap
`,
    ].join(''),
}

export const consumeProgram: Program = {
  sha1: 'e4fd90efdc750fb4d92b0d4562192ff065e5f075',
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
local aO,R={},nil
local function dC(dp)
if dp==1 then
aO[1]=s'window'
elseif dp==2 then
aO[2]=s'counter'
elseif dp==6 then
aO[6]=s'record'
elseif dp==7 then
aO[7]=s'slots'
else
local bv
local function ep()
return s'bucket'
end
local function bi(a,e,aR,bT)
`,
      bucketDescriptor,
      `local bI,dU
if d[e]==5 then
bI,dU=d[e+8],d[e+9]+(bT or 0)
end
`,
      bucketStep,
      `return U,bH,j,h
end
aO[0],aO[4],aO[5]=bi,bi,bi
end
return aO[dp]
end
local bO=d[3]
local T,E,aF
if ARGV[2]or cd~=0 or bO<#KEYS or bO>4000 then T,E,aF=s'state'end
local ar={}
if KEYS.ap then
ar=KEYS.ap
elseif ARGV[2]and ARGV[2]~=''then
for b=1,bO do ar[b]=T(b)end
elseif bO>0 then
ar=call('MGET',unpack(KEYS,1,math.min(bO,4000)))
for b=4001,bO do ar[b]=T(b)end
end
local bk,j={},{}
local bP,G={},0
local cX,dV={},d[2]%2
for o=5+d[4]-(d[2]-dV)/2,4+d[4]do cX[d[o]]=true end
local ck={}
local function ez(l,Y,M,x)
for o=l,l+2*Y-2,2 do
local b,e=d[o],d[o+1]
if d[e]==3 then
bP[M+3],bP[M+4],bP[M+5]=R.gg(x[b],e)
M=M+5
end
end
end
local aU={}
local function fF(e)
local aW,t=d[e+1],d[e+5]
local cx=d[e+3]==1 and aW<1099511627776 and t<1099511627776
aU[e]=cx and pack('>BI7I5I4I5',8+d[e+2],q,aW,d[e+4],t)
return aU[e]
end
local function fT(b,e,aD,by)
local M=aU[by]
if M==nil then M=fF(by)end
if d[by+3]~=1 or bk[aD]or ar[aD]or cX[b]or cX[aD]then return end
local U,a,bC,ae=(aO[d[e]]or dC(d[e]))(bk[b]or ar[b],e,1)
if U==0 then return end
local cY=(ae or 0)~=0 and ae-q+549755813888 or 0
local bW='>I5'
if not M or cY<0 or cY>=1099511627776 or(cY==0 and(ae or 0)~=0)then
M=pack('>BI7I7I4I7',10+d[by+2],q,d[by+1],d[by+4],d[by+5])
cY,bW=(ae or 0)~=0 and ae-q+4503599627370496 or 0,'>I7'
end
bk[b],j[b]=a,bC
bk[aD],j[aD]=M..pack(bW,cY),q+d[by+1]+60000000
return 1
end
local fp={[0]=true,true,true,[4]=true}
local function fD(l,Y)
if Y==2 and d[d[l+3]]==6 and fp[d[d[l+1]]]then
local U=fT(d[l],d[l+1],d[l+2],d[l+3])
if U then return U end
end
local aI=true
local aK,f,x,ay,eE,bM={},{},{},{},{},{}
local M=G
for o=l,l+2*Y-2,2 do
local b,e=d[o],d[o+1]
if d[e]==3 then
if not x[b]then x[b]=R.cz(R.eW(b),e)end
local c,ad=x[b],(ay[b]or 0)+d[e+1]
ay[b]=ad
local ej
ej,bP[G+2],bP[G+3],bP[G+4],bP[G+5],eE[b]=
R.fz(c,e,ad)
bP[G+1]=ej
G=G+5
bM[#bM+1]=0
if ej>0 or c.f>q then aI=false end
elseif aI then
local bT=d[e]~=7 and aK[b]or bk[b]or ar[b]
local U,a,bC,ae=
(aO[d[e]]or dC(d[e]))(bT,e,1,ay[b],bM)
bM[#bM+1]=ae or 0
if U==0 then aI=false else aK[b],f[b]=a,bC end
if d[e]==5 then ay[b]=(ay[b]or 0)+d[e+9]end
if d[e]==7 then ay[b]=(ay[b]or 0)+d[e+1]end
end
end
if aI then
for o=l,l+2*Y-2,2 do
if cX[d[o]]and not ar[d[o]]then return 0 end
end
if dV==0 then ez(l,Y,M,x)end
for b,a in pairs(aK)do bk[b],j[b]=a,f[b]end
for b,aC in pairs(eE)do R.aC(b,x[b],aC)end
return 1
end
ez(l,Y,M,x)
for o=l,l+2*Y-2,2 do
local b,e=d[o],d[o+1]
if d[e]~=3 then
local F,a,bC=(aO[d[e]]or dC(d[e]))(bk[b]or ar[b],e,0)
if a then bk[b],j[b]=a,bC end
end
end
return 0
end
if bO<#KEYS then
local bJ,aI=s('log-value',E,aF),{}
local cf,dX,ev=s('log',bJ)
R={
eW=function(b)
if not aI[b]then aI[b]=bJ.aI(b)end
return aI[b]
end,
cz=cf,
fz=dX,
gg=ev,
aC=function(b,c,aC)
aI[b]=c
bJ.aC(c,aC)
end,
dL=function()
for F,c in pairs(aI)do
if c.ea then bJ.dL(c)end
end
end,
}
for b=bO+1,#KEYS do
local c=R.eW(b)
ar[b]=(c.bq or c.f>0)and c.f
end
end
local l,H=5+d[4],#d
while l<=H do
local Y=d[l]
local B,eG,e,aR=1,1,0,1
if Y==0 then e,B,eG,aR=d[l+1],d[l+2],d[l+3],d[l+4]end
for b=B,eG do
local U,a,bC
if Y==0 then
U,a,bC=(aO[d[e]]or dC(d[e]))(bk[b]or ar[b],e,aR)
if cX[b]and not ar[b]then
U=0
elseif a then
bk[b],j[b]=a,bC
end
else
U=fD(l+1,Y)
end
ck[#ck+1]=U
end
l=l+5
if Y>0 then l=l-4+2*Y end
end
if dV==1 then
local H,fm
for b,a in pairs(bk)do
if E then
E(b,a,j[b])
else
if j[b]~=H then H,fm=j[b],string.format('%d',j[b]/1000+1)end
call('SET',KEYS[b],a,'PXAT',fm)
end
end
if R then R.dL()end
end
for b=bO+1,#KEYS do ar[b]=ar[b]and pack('>I7',ar[b])end
local aX=bP
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
  sha1: '85333a86d1a55889a23fe8c5d284c92b9b636020',
  source: () =>
    [
      `do
local call,KEYS,ARGV=redis.call,KEYS,ARGV
local sub,byte,ac=string.sub,string.byte,struct.unpack
local H=#ARGV
local as=ARGV[H]+0
local eF=as<0
if eF then as=-as end
local cg,dl,dN=ARGV[as+1],ARGV[as+2]+0,ARGV[as+3]+0
if eF then
local bZ=call('INFO','server')..call('INFO','replication')
local bf=string.match(bZ,'run_id:(%x+)')..'-'..string.match(bZ,'master_replid:(%x+)')..'-'
local aD=call('GET',KEYS[dl])
if aD and sub(aD,1,#bf)~=bf then call('DEL',KEYS[dl])end
if sub(cg,1,#bf)~=bf then return{0}end
end
local ap=call('MGET',unpack(KEYS,1,math.min(#KEYS,4000)))
for N=4001,#KEYS do ap[N]=call('MGET',KEYS[N])[1]end
local aD=ap[dl]
if not aD or sub(aD,1,#cg)~=cg then return{0}end
local l,dy,bG,q=as+5,0,nil,nil
while l<H do
local i,m,p=ARGV[l]+0,ARGV[l+1]+0,ARGV[l+2]+0
local bp,B,cA=ARGV[l+3]+0,ARGV[l+4]+0,ARGV[l+5]+0
l=l+6
for eX=0,(cA>0 and cA or-cA)-1 do
dy=dy+1
local bE,a,bm=ap[dl+dy],ap[B+eX],cA>0 and ARGV[l+eX]or'0'
local bL
if bm=='0'then bL=not bE else bL=bE and sub(bE,1,#bm)==bm end
if bL and i>0 then
local M=a and byte(a)
if M and M>=224 then a=sub(a,8)end
local G=a and#a or 0
if G==0 then
if not q then
q=ARGV[as+4]+0
if q==0 then
local bK=call('TIME')
q=bK[1]*1000000+bK[2]
end
end
bL=q>=bp
else
local C,u,V,x,dH,dG,cF,F
if G==12 then
C,u,V,dH,cF=ac('>I3I4I3BB',a)
dG,cF=1,cF*1000000
elseif G==28 then
C,u,F,V,dH,dG,cF=ac('>I3I4I3I5I3I5I5',a)
elseif G==49 then
C,u,F,x,F,dH,dG,cF=ac('>I3I4I7I7I7I7I7I7',a)
end
x=x or C and(C-8388608)*4294967296+u+V
bL=C and x>=dN and dH==i and dG==m and cF==p
end
end
if not bL then
bG=bG or{}
bG[#bG+1]=dy
end
end
if cA>0 then l=l+cA end
end
if bG then return bG end
for N=#KEYS,dl,-1 do KEYS[N]=nil end
for o=H,as+1,-1 do ARGV[o]=nil end
KEYS.ap=ap
end
`,
    ].join(''),
}

export const holdsProgram: Program = {
  sha1: 'c12eeac04ad60186275a2368fdabf602a25731ef',
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
local bA,E
if not ARGV[2]and#KEYS<=4000 then
bA={}
local ar=call('MGET',unpack(KEYS))
for b=1,#KEYS do bA[KEYS[b]]=ar[b]end
if cd~=0 then
local F
F,E=s'state'
end
end
local function dt(b,a,j)
bA[KEYS[b]]=a
if E then return E(b,a,j)end
call('SET',KEYS[b],a,'PXAT',string.format('%d',j/1000+1))
end
local function dx(e)
`,
      bucketDescriptor,
      `return i,m,p,aH,av
end
local function dM(b,e,t,ab,ae)
local i,m,p,aH,av=dx(e)
local bb,Z=q-aH,(ab-t)*m
if aH>1000000000000000 or Z>p*m or-Z>p*m then return end
local a,h,g=bA[KEYS[b]],bb,av
local C,u
if a then
local V,H,r,af,aa,al
if#a==12 then
C,u,V,af,al=ac('>I3I4I3BB',a)
g,aa,al=0,1,al*1000000
elseif#a==28 then
C,u,g,V,af,aa,al=ac('>I3I4I3I5I3I5I5',a)
elseif#a==49 then
C,u,g,H,r,af,aa,al=ac('>I3I4I7I7I7I7I7I7',a)
if r>0 then return end
else
return
end
if af~=i or aa~=m or al~=p or C<6291456 or C>=10485504 or g>=i then return end
h=(C-8388608)*4294967296+u
if(H or h+V)>q or h>=q then return end
if h<bb or(h==bb and g<=av)then h,g=bb,av end
end
if Z==0 then return true end
if Z<0 then
local U=(q-ae)*i
if U>9000000000000000 or U<-9000000000000000 then return end
local at=p*m-U
if at<=0 then return true end
if-Z>at then return end
end
local ai=g+Z%i
local w=ai%i
h,g=h+(Z-Z%i)/i+(ai-w)/i,w
local V=q-h
local j=h+aH
if g>av then j=j+1 end
if j<=q then
bA[KEYS[b]]=false
call('DEL',KEYS[b])
return true
end
if V<0 then return end
u=h%4294967296
C=8388608+(h-u)/4294967296
if V>=1099511627776 or i>=16777216 or p>=1099511627776 then
dt(b,pack('>I3I4I7I7I7I7I7I7',C,u,g,q,0,i,m,p),j)
return true
end
if m==1 and g==0 and V<16777216 and i<256 and p<256000000 and p%1000000==0 then
dt(b,pack('>I3I4I3BB',C,u,V,i,p/1000000),j)
else
dt(b,pack('>I3I4I3I5I3I5I5',C,u,g,V,i,m,p),j)
end
return true
end
local function aP(N,bn,B)
local a,e=bA[KEYS[N]],d[B+1]
if bn>=0 or d[e]~=0 or not a then return end
local bt,l,z,bN,t,ae=string.byte(a),nil,nil,nil,nil,0
local bX,fa=549755813888,'>I5I5'
if bt==8 and#a==27 then
l,z,bN,t,ae=ac('>I7I5I4I5I5',a,2)
elseif bt==10 and#a==33 then
l,z,bN,t,ae=ac('>I7I7I4I7I7',a,2)
bX,fa=4503599627370496,'>I7I7'
end
if ae==0 or bN~=d[B]or q>=l+z then return end
local j,ab=l+z,bn==-1 and d[B+2]or t
if ab>=1099511627776 then return end
if bn==-1 and not dM(N+1,e,t,ab,l+ae-bX)then return end
a=string.sub(a,2)
if ab==t then
dt(N,string.char(bt+1)..a,j+60000000)
else
dt(N,string.char(bt+5)..a..pack(fa,ab,0),j+60000000)
end
return j,t,ab
end
local bm
local aX={}
local N,cr=1,3
for F=1,d[2]do
local bn,Y=d[cr],d[cr+1]
local f,t,ak
if bA and Y==1 then f,t,ak=aP(N,bn,cr+4)end
if f then
aX[#aX+1]=pack('>I7I7I7I7I7',2,f,t,ak,0)
else
bm=bm or s('hold-change',dx)
local dO,j,I=bm(N,bn,cr+4,Y)
aX[#aX+1]=pack('>I7I7',dO,j)
for call=1,Y do
local t,ak,ca=0,0,0
for o=#I,1,-1 do
local L=I[o]
if L[1]==d[cr+3*call+1]then t,ak,ca=L[2],L[3],L[4]end
end
aX[#aX+1]=pack('>I7I7I7',t,ak,ca)
end
for b=N,N+Y do
local w=bA and redis.pcall('GET',KEYS[b])
if bA then bA[KEYS[b]]=type(w)=='string'and w end
end
end
N,cr=N+1+Y,cr+4+3*Y
end
return table.concat(aX)
`,
    ].join(''),
}

export const leaseProgram: Program = {
  sha1: '53ab819e092653eb6f675591f363855a1031efd6',
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
local bi=s'bucket'
local X,aq,aG,aJ=bi.X,bi.aq,bi.aG,bi.aJ
local dR=64
local function gi(v,aB)
local bT=#v+1
for o,dh in ipairs(v)do
if dh[4]>aB[4]then
bT=o
break
end
end
table.insert(v,bT,aB)
return v
end
local function fC(b,a,l)
local i,m,p=d[l],d[l+1],d[l+2]
local eO,ax,bY,fk,fJ=d[l+3],d[l+4],d[l+5],d[l+6],d[l+7]
local k,f=q,0
local h,g,x,r,v,cV
if a then
local af,aa,al
h,g,x,r,af,aa,al,f,v=bi.T(a,0)
if h and(af~=i or aa~=m or al~=p)then
h,g,x,r,v=bi.cz(h,g,x,r,af,aa,al,i,m,p,v)
cV=true
end
if h and x>q then k=x end
end
if f>q then ax=0 end
local cH,as={},nil
local bG=false
if v then
local gd,gc,bp=bi.aP(h,g,i,m,p,v,k)
for F,aB in ipairs(bp or{})do
if aB[1]==bY then as=aB else cH[#cH+1]=aB end
end
bG=as and fk<=as[2]
if not bG then h,g,v,cV=gd,gc,bp,true end
end
local cl=0
if not bG then
local aL,fi,eu=0,0,k+fJ
if as then
aL=math.min(d[l+8],as[3])
fi=math.min(d[l+9],as[3]-aL)
eu=math.max(eu,as[4])
local bz,w=X(i,m,fi,0)
g=g-w
if g<0 then bz,g=bz+1,g+i end
local bc=aJ(cH)+aL
h,g=aq(h-bz,g,i,m,p-bc,k)
if x<k then x=k end
v=cH
end
local dD=0
if ax>=eO and(as or#cH<dR)then
dD=p
if h then
local fB,ec=aq(h,g,i,m,p,k)
dD=aG(fB,ec,i,m,k)
end
end
if dD>=eO then cl=math.min(ax,dD)end
if cl>0 then
local u,cn=aq(-math.huge,0,i,m,p,k)
if not h then
h,g,r=u,cn,0
elseif h<u or(h==u and g<=cn)then
h,g=u,cn
if r>0 and k>=x+r then r=0 end
end
local z,w=X(i,m,cl,g)
h,g,x=h+z,w,k
end
if aL+cl>0 then v=gi(cH,{bY,fk,aL+cl,eu})end
cV=cV or cl>0
end
if cV then
if v and#v==0 then v=nil end
if not h then
ag(b,f)
else
local j=bi.j(h,g,x,r,i,m,p,v or{})
if f>j then j=f end
E(b,bi.a(h,g,x,r,i,m,p,f,v),j)
end
end
return cl
end
local ar,aX,ck={},{},{}
for o=1,#KEYS do
ar[o]=T(o)
aX[o]=fC(o,ar[o],3+(o-1)*d[2])
end
`,
      reply,
    ].join(''),
}

export const needsProgram: Program = {
  sha1: 'cb9205324482f434fb3f4f77f23078099da3c63f',
  source: () =>
    [
      ``,
      clock,
      `local eb=call('HGETALL',KEYS[1])
local ap,bL={},false
for o=1,#eb,2 do
local fc,aT=eb[o],eb[o+1]
local l=tonumber(string.match(aT,'^%d+'))
if fc==d[2]then
bL=true
elseif q-l>d[3]or l-q>d[3]then
call('HDEL',KEYS[1],fc)
else
ap[#ap+1]=string.sub(aT,18)
end
end
if d[5]==''then
call('HDEL',KEYS[1],d[2])
elseif bL or#ap<d[4]then
call('HSET',KEYS[1],d[2],string.format('%016.0f ',q)..d[5])
call('PEXPIRE',KEYS[1],math.ceil(d[3]/1000))
end
return ap
`,
    ].join(''),
}

export const regionProgram: Program = {
  sha1: '1c01ef864669f1e3f5bcda64c95a72dcc4eac4a0',
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
local bf=string.match(bZ,'run_id:(%x+)')..'-'..string.match(bZ,'master_replid:(%x+)')..'-'
local aD=call('GET',KEYS[1])
local dc=#KEYS>3
local a=dc and T(4)
local bE=dc and call('GET',KEYS[5])
local dY=a and redis.sha1hex(a)or''
local cg=aD and string.match(aD,'^%S+ %d+ ')or''
local bm=bE and tonumber(string.match(bE,'^%d+'))or 0
local bF=string.match(cg,'^%S+')or''
if string.sub(bF,1,#bf)~=bf then
local k=call('TIME')
local fQ=d[3]==cg and string.sub(d[2],1,#bf)==bf
bF=fQ and d[2]or bf..string.format('%x%05x',k[1],k[2])
end
local dm=d[2]==bF and d[3]==cg
if dm and dc then dm=(d[5]==dY or d[7]=='-')and d[6]==bm end
if not dm then return{bF,q,aD,a,dY,bE}end
local aL=not dc or d[10]=='-'or d[10]==''
if not aL and bm==0 and call('ZCARD',KEYS[3])>=d[11]then return 0 end
local aw=call('INCR',KEYS[2])
if d[4]~=''then call('SET',KEYS[1],bF..' '..aw..' '..d[4])end
if not dc then return aw end
if d[7]~='-'then
local ag=s('drop',E,remove,ao)
local F,F,bh=s'block-value'
local eB=string.gsub(d[7],'..',function(dZ)
return string.char(tonumber(dZ,16))
end)
local f,j=d[8],d[9]
if eB==''then ag(4,f)else E(4,bh(eB,f),math.max(f,j))end
end
if d[10]==''then
call('DEL',KEYS[5])
call('ZREM',KEYS[3],KEYS[5])
elseif d[10]~='-'then
bE=aw..' '..d[10]
call('SET',KEYS[5],bE)
call('ZADD',KEYS[3],aw,KEYS[5])
end
if d[7]=='-'then return{bF,q,aD,a,dY,bE}end
return aw
`,
    ].join(''),
}

export const releaseProgram: Program = {
  sha1: '6b26796c5c60e72f81ec96d68c7b249bee6a3c61',
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
local F,cw=s'slots'
local bx={}
for b=1,#KEYS do
local a=T(b)
if a and am(a)==9000000000000000 then
bx[#bx+1]=b
else
local w,j=cw(a,d[2*b],d[2*b+1])
if w then E(b,w,j)elseif w==false then ag(b,j)end
end
end
return bx
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
  sha1: '79e872e2caf37ee2d4ad6bdcd34f965ee99dc80b',
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
local aK=#KEYS
local ap={}
for b=1,aK do
local a=T(b)
ap[b],ap[aK+b]=a,a and redis.sha1hex(a)or''
end
if#d==1 then
ap[2*aK+1]=q
return ap
end
for b=1,aK do
if ap[aK+b]~=d[4*b-2]then return 0 end
end
local F,bg,bh=s'block-value'
local eT,fO=q+1000000,1+q%1000000000
for b=1,aK do
local a=string.gsub(d[4*b-1],'..',function(dZ)
return string.char(tonumber(dZ,16))
end)
local f,j=d[4*b],d[4*b+1]
if a==''then
E(b,bg(f>q and f or fO),math.max(f,eT))
else
if string.byte(a)~=2 then a=bh(a,f)end
E(b,a,math.max(f,j,eT))
end
end
return 1
`,
    ].join(''),
}
