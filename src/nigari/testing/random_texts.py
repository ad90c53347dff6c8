"""Generated texts of mocks, equal to OpenTofu's character for character.

OpenTofu uses the first generator of Go's `math/rand`, an additive lagged Fibonacci generator (607,
273), seeded with a hash of the type. Its state after some 7.8 million million steps is part of its
definition, and is stored here as data.
"""

from __future__ import annotations

from base64 import b85decode
from collections.abc import Iterator
from functools import lru_cache
from struct import unpack
from typing import Final

_LENGTH: Final = 607
_TAP: Final = 273
_MODULUS: Final = (1 << 31) - 1
_MASK: Final = (1 << 64) - 1
_ZERO_SEED: Final = 89482311
_WARMING: Final = 20
_FNV_START: Final = 2166136261
_FNV_PRIME: Final = 16777619
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890"
_SHORTEST: Final = 4
_LENGTHS: Final = 12


class GoRandom:
    """Go's random number generator, for one seed."""

    __slots__ = ("_feed", "_numbers", "_tap")

    def __init__(self, seed: int) -> None:
        self._tap = 0
        self._feed = _LENGTH - _TAP
        self._numbers = _seeded(seed)

    def below(self, limit: int) -> int:
        """Return a number below a limit that has fewer than 32 bits."""
        if limit & (limit - 1) == 0:
            return self._bits() & (limit - 1)
        most = _MODULUS - (1 << 31) % limit
        drawn = self._bits()
        while drawn > most:
            drawn = self._bits()
        return drawn % limit

    def _bits(self) -> int:
        """Return 31 random bits."""
        self._tap = (self._tap - 1) % _LENGTH
        self._feed = (self._feed - 1) % _LENGTH
        numbers = self._numbers
        drawn = numbers[self._feed] = (numbers[self._feed] + numbers[self._tap]) & _MASK
        return (drawn >> 32) & _MODULUS


def _seeded(seed: int) -> list[int]:
    """Compute the generator's state for a seed."""
    x = seed % _MODULUS or _ZERO_SEED
    for _ in range(_WARMING):
        x = x * 48271 % _MODULUS
    numbers: list[int] = []
    for cooked in _cooked():
        x = x * 48271 % _MODULUS
        mixed = x << 40
        x = x * 48271 % _MODULUS
        mixed ^= x << 20
        x = x * 48271 % _MODULUS
        numbers.append((mixed ^ x ^ cooked) & _MASK)
    return numbers


class Texts:
    """The texts for one type, always the same in the same order."""

    def __init__(self, type_name: str) -> None:
        self._random = GoRandom(_hash(type_name))
        self._made: list[str] = []

    def __iter__(self) -> Iterator[str]:
        at = 0
        while True:
            if at == len(self._made):
                self._made.append(self._next())
            yield self._made[at]
            at += 1

    def _next(self) -> str:
        below = self._random.below
        length = below(_LENGTHS) + _SHORTEST
        return "".join([_LETTERS[below(len(_LETTERS))] for _ in range(length)])


@lru_cache(maxsize=1024)
def texts_for(type_name: str) -> Texts:
    """Return the generated texts for objects of a type."""
    return Texts(type_name)


def _hash(text: str) -> int:
    """Compute the 32-bit hash FNV-1."""
    found = _FNV_START
    for byte in text.encode():
        found = (found * _FNV_PRIME & 0xFFFFFFFF) ^ byte
    return found


@lru_cache(maxsize=1)
def _cooked() -> tuple[int, ...]:
    return unpack(f"<{_LENGTH}Q", b85decode(_COOKED))


_COOKED: Final = (
    ">i?MQGfMZxTVIyCK}vhT53hmC6UAN=>y<;NT>At{j?WNx9E0em!@)O?=;U2}sfGVTch4bXVfmkGRR+sK(%0xf(a0"
    "ulp!yLsA5o`CRZylPNq6mWTrKKf#-CiBXhQ)?Ijg-t3pA2xSu^@@0&1qtPWuq9iqX7_sl1=}tbn5~vCQ|E8!Pk5l"
    "-H2~uPoyvG%{*GD-;1AlFUNJXn^xipN1l#AUUrm5u>rCmYu@A`J@M1h9!Y1JeMkJ;Zl0{+cTtUp2><kZXuL|e3@H"
    "O#i@YXY4^+X@AAU~3?cvSG32$T^;0RCG*ie9>Cq71G8AeqNwLvcnPTL<QF%CaI82#mW3HQ3Vbm24cc9Yg#FoFk^B"
    "~%4hGI{!zn9xa7TS;@dX+L5Jcn^mOOV<bI#4@4D22!JrHJD*cj(X=tP97!a_}4YaA_p~hNw^W6pGRJOmoz<c=>Lm"
    "j;ALvSMe`+rt6#43L7K<FI(v!SxLp(IW0_x^7@rwT{Q2oy(^qn9^#BpIbe$myV5mOaCQ~%_t^3E3XonMH`IT97%h"
    "+<dF$Yhe0w5)n7iu%Vh(vYap59)td4<1K-1b##nxB`nwE0Rl(@fyy(zQfK~aULM(4V*Ru!|HNpEQR1dyOSX@^jLZ"
    "4^)paLHPe|JXIn*i;p&v>2G)pxQHJ{eJUJR^YM)t?7~VDL(ky3+rbW@|jXol5!-t>r7r+mqq5fE5kcn6?p3GZs@F"
    "6Q(h@f2)nIMnre`X$zw$JY6wvM{MH%$tc3%upE}XurPSuToCBM;GoK0kHChaWBqDg(&l=T5yf{u5K2F|LpD*}R4)"
    "3#v3i=J<X_rHL?AZzG5l~Fb$HSgc)#DSy51B^`;#<zoe&7c`z9Jd7xX{w2VaI&PAL<@O-PZB<-d<411?e0Bj@NGc"
    "x@h!7HVVww&?!VN+cClv(>;`sn#~;I(ZY`?^=U|EwT~7~U~k3U_WH4~tK?BZC%LE2=tq|9-eJCd7(%CZJPvqCK#g"
    "~R6Xa~dMnrLv3vlNdz*|RU7j4*J9e4;1;BocU=?@Q|S8j+izhZ7j=Cn>y{|s@ArI|RMrB>)9nizvui+rC{6aWGSo"
    "KpyxXH-$L?pge}6sDPki~o=FB2qm%=PRc5I7mz@gMy1t-uN$Q$Da`O3_rzO@vR)wCRl4g2?cV&`j)&9QgHz3`;*f"
    ")HU0z#O8c(NZkt@j89=_0FvqWp>WO&QnYHi-n^^j|NebQ=@DGE@aZVR6-GyhOfVXh8zGAT>VYj9rB7?=vB)#vEBP"
    "O#ZP`7*g&;%cvuN*zlA?dEX3Hk7)3yvI}?R=_6`L<$uo~PLS6hG*^1<%Af#5bS_pn1hb&=Pr4j)+r07ki&5vY?On"
    "+PwlGU9bC5gh$E}r~~ARP^6zSH==$G2=cZ9zXU(aGwnHwK4g~18Dv}6p4XE7tms&>$RTJUG3iEo|2jSCYAd(=jD@"
    "f^XA%GBpFCc!rNSIJmBaKZc6RG;2mQq6bLZ_b`?c>-uKe3sGbDd)+Yb&jK<ATjlHJCnb077OW~m(dZc9^?K@Ha+M"
    "RIDuk_8eOy%x<d+}11%SZhU%?<s_84ZLDpUODNwsZMlA;jV;Sf)wu<G~#hOw=y0|z$jA0CvWZ#q2$uwJ1$N}2w>r"
    "Y^k=&xCvzm|LA4PN*RLvl4EcSo8aXT!mh|CNbVB+i_6|TD6Q0fxW|jt-+RVY%G+9L=Ad=d*IYL3^R#hkVk&vIXy^"
    "1JgJ!_GIpl=4pq0myFq413RY-TECgRNt*9hjYrN`AIjVWQt--@@$cHvT-$|7268E9>O8(HD0Oo)^+@+eaccx1w>m"
    "JH-&yCC}yCVN!E*ttbzZi|c;`0o|2aTC`YmK(VbbgAh!3c1N^-22=;@^ynZP*}%uPKwl@^Cl7n3-S{nYg~)`&uQw"
    "*PG4_jtNruT`Sbrxl?jHu<RTQi(1tQax>8^O>h6K}kMbXYmA0lTmxMnph1qYZ%xuAZhP*Vb^)0`Ik!hRY;0H-NYu"
    "sSDK@<X3-`}gF!NWZw~SJ+z|S@Use7?jo86mUYEt%^}U7=n(>xWhwCx8IU)R=OXUtiUx?#j30akG#t`5Qwl}bGp8"
    "4RkcI%)Su@&FrO4-btG{gL*A<POTx>xSEbTSa^7jdb!ogIG=X*u^o;k)pA`~HV%<FPJ`Fh=1kiKU2I#Fj*^BCF@?"
    "p(*J+F&b$(?9_I;j{lHB!F498jk%01~mAj6`i)v@!B#%4TH)<TtnC=~14z&uE(*REI`z$u}uoqbT1fwXj5Kb+Z18"
    "oK7RcLqWnRj|KvbPkH_HedQJ3Xz-8)3BZl3t(dLk2BegMg0WRWKXm`pCoo3NMF{L@5hDiEIm5t)NtgkyS`L_2Hke"
    "_|8U;PC60)?mdf{wvO7W_2Ksw%)$;(GIUsmYp*|-8?G_2bl80txiLC#YsxxA-SI&YyyB@?QmVkpT=V`jnDaiEjD&"
    "T9XXQR-}|fHFXOBwA*Hk2@GzWaPlofJ`eQraHP<O+B84W92W)iG!lK<o*(sxD29$y$rKqu#wiw37@R<__{fWxWv)"
    "zvjg8<3GIT*#FQrXVAGq2xdX<~S7t(h_u5#6t1_Nq8{2=#;V*_3)i`<A0PI;OmR36B*^o;YFUT7OhFsFh>s>pm+c"
    "lfr&}(+6hZM?#wkBUfQ}%YCKr1|5G}icXis@u@L3mE;KHUN@cX(1l=zo_$VjU}z)Ee;nDe6v(Dx8(d0yt9;p?u0|"
    "*?S~cV@Wn^GP0*!WCwhIduQVcr9Z~F*he{Vbp5xWdEkuPps^n#cW%kILNm4&CxGVH38^{F-R#O4TWBW~O}CMb(rl"
    "cZR5}d~dHcbU5w;t+z0+rY5#siV4g8kVBI`-8`>cLN)lFsfo0s7o$|zk}r))!AdD$2;hT_-LMHZdUJiezdu*{x&;"
    "itDBg2E};&L1l)4KZY1H;`J`y?r7P7HTug&2ad-^(ARzUU7s=CD7nQN0K3Tb;S+{aoPJ=59D4K;k>O|Hq3ZEl`@c"
    "ncA%AnQ#)!o)4++3rij>x9H^UPfu~$|oQ<zPlPH~0KMlm{#C_k#*fIVA+tz(J1AuJ<mkJ_i_aO$12PX)6%&68`V0"
    "A|LDp%?%!}<NmHUW_w;)N3t{@p&u--n~7qPgvP`}W1$deK(Z$D=4~`3WcYYR-*9@M$eo7Q&L6zO=iXT^#hv_O3Ti"
    "n5oyz5D`Pu${ozJ<sE!H*{fb+rxAk$EFP!~v>fDK{J$OLXj?c#|DyTSa35;ZT+6U0xy<Uy<PhLvL9X3D;2z1SQdE"
    "Bq%M6!TR54+GbxZ{i3mk%r2nK}t5zj=#O=~Y;r?)mGfB7b%)rJ={liPBGaLuX7+EFA_2U_RX1d(MZ4WZ?vujaV;%"
    "j+bNBPH{IGkg;WUqW7~7!ji~9xH%AVGCrvUmPp(&^&&Yr@6X+=!p;mK?pv&v-=zIYttMJt;2si!&$dz+4Qo%0@4L"
    "ZR&|6-gZegNDhsIK<2r*HXSk(?jpdK)D2QNr7v~{YpUW!)-WGn`<s{M)mDJ!-f{W%UqX^3gbxOc1C7m)zrZxD5s2"
    "S{+_n9Y65bg4Iz^yt&7iZ*m;(axVY@Ix|t_OLqHCx*R;A_q&*zsH0C<4EmW3%BUd*LyzCAoc-o<iv(C1`#;t6vV4"
    "Gg+U%aW?8IED$m|L+{eE!N`Bd9@2gdM`DijfD&KoLaq_>%}2Kvj)VHC4h8|>g#64~j8LbnWBCL>grKUUrPJ%^r1w"
    "erY~Mls-fM><e4ge9PjV!|w5D1;@(oA7xRCXkAT^jNJ!O?x^pMOE(fBB<p$%07+cX<1T+Bjv0EDcRHk-EyEN=OP3"
    ")OPJko5@b_<3-YatH;2A-8O4r`0yB$y<oj;g|k-wTQTE{p18v5Q3Cq0XMl82zl>3R%H{uCVHp6D5%{O6NZob&s(k"
    "oxVNGRKru4V9;wLFKI~_>paB4f<=vC8`N8(&c!LYP>}v>)$NX==mr-?|_yqDa?geKgOePl9f_0L|JQGHBq<i7B;<"
    "Tz<8xcRFUL`{m7LGlloPp3pvncUMO(3f|`y$b7sy2@!zYr;0x|?6%5Uj3{$|~d!u(nj4%gqmZIAo9L2{uOoUm#k<"
    "Ey%dGj_qj2tRwwH4U#4DWO;##TCKe$t6BlM@0`4TJ#*@$kLMmdq#}8B(S;7<A^w5j#XS;XW=>~$5W$Ar`?(sqKbI"
    "JZDvWK)RqoUPwY3#eZASprDsAfGvuIHKh07z|5UE`tTX&x}5nh{@*Xm_`baKcm=bgbSs)M?g)oY;B5QinA=R=bg+"
    "55Z#b7E^Gna%Eq0s}lP8!$^Fzw9vyT?t`4m_+1L;_Cas5Qx$_Zq@jka3_UzGF}4jZL+1tJJ^9cYo}Oq@j4E4H+Uf"
    "oVUYw{x_fZxPQWy>B*PNVfppgB-xS^w2dKe41>|L71<gj5BjR2Dg<I{(0Lm1VFy=JCz3DaTsj*z8OwSk;tX)`x`W"
    "@$bw&uUam=%PTfNI|D(+FXvbbv>U!~rHrDEstDxUA=8njRl)U!$YoAo9aRehn6^mnTBR6)de0TGhU(jjU4MEWW)d"
    "4Es11&~8YgSWu#m-5=?DP|p}4O34Oo<w>^ux$+sl0_X4D&=8|-aA@a$8P>F&W9x*}ZRx0?7Fqa${XKx9MoeVaL<$"
    "-@VyaTLix?#u5xpSB7^^<|nd%VTPEXP^Y|J)gB{^+4=%Fk7o^^g;abRqGJ-Z%~FKLF42y42QdD8ys>MFgmtPrd7-"
    "ogyGE8DiPgc2MplK;J1+r-q@9weZkkbzr2uFqh8MfQ0ckscV7j4@oG)#Ed;ai)MYRj0c9UX^)u*RaOW_Q`iALo8<"
    "Y!XXbTyqktaytIbGNz!h}v1Z~u#X<?_jz^XS8?NRqi(%7mcj{d}ItK_puW@c2&_{R<{;K=LuYn)UK*@Lq#&NzRA("
    "m<c-?qXX&ukBslTMV-2SB491ZT(M#&%^O$@v>nQC@M^D|%~&K{k1eJaw0P<Yh{D8LZk;>-Tef3lY-?w<*NDKPPLZ"
    "3RHDk$Sp7y-sDyaaMM7@|69=f15=0Ah$Z8t2JOD9I%;G1CS{6sI3VWe+IqeL3iQNV$G)`5!@-{l&S`qwWUAW=JcU"
    "2`w$(X~Ww=Pbh06!?h|Dum1ms3%R*dw4k`WO;FDvKf)iXnTU9ID8UgJc+3i#_gEH{=Z`aMrFPbt%c)c^^m$QR(#2"
    "bZ(YH}X~r3DG>$LtS9y$9m!V8APoPZxF!9zF;bQ1E{-+eO0CsJeZkjQDgkniL&e|B8`X$!#+;jr&bYsj2Mz65L);"
    "gcmicdL<_;Ovt3<|w;riGV)nlkWt{M%yC`aL@h~sR2X^$=t(}K7c#s61nQ+^cm&FmLql$GEL&tQQIWlh%Kum2@(3"
    "h=;#hO!6!&!;)bru>QB!iw|^>}TJt@rO^<<Idd9ZSjO5+a>HAGSApMm++4Yw7N*t#+&W(PC?o*<Jb1cH43xrg)+{"
    "XUNDI<*S03euee%jS<2$fNT>$wsv#+FW#D>Owgy8e&=^huoRzdp-1hD1g$+wF)|&K<mH}B3O(~frR(&%CfRdypsz"
    "Z4GMcmI52kLI=3!%IPc$Fn%SpgQ+`b(015{q?pi=k5AO%5v;+Y$--NU%$pg<>Cmuy7)rB3_=rsuCme^_p<q=bWe6"
    "D(BTTploc5Bv`*^om^yFh>P~dBA-L!a2s%wkw)&sC-5W-Zt8_Yr8_?b_2;CQ?Pkp_d^)mn9qy_!LAXo7ql0I8)V("
    "^Pu<?^GU!PoD2F$U`{?Huh`aFB^upK=NKm$gZ3}i!bE-vs6bRB&g+gLk#OG)kpeqhQ0ATl{xfy;33<G3gk5v~PpT"
    "*|DNHKMJL)bg-^3r#jZ{Y!ljks=RXoe^>&gXJf2iB2Pv4V~3RKDvPr)9!-2cAA}-Q7n?hE;i7WB!d|oB2P~IX-71"
    "BK3^NZ3up2W}JSXX5%;RIOwmWN4wXOy|?1q->aS<(ZRLyYRXSCDH~f-QlaEo4s>;m3ek~#*p<qEI#Ybi+p&go_xo"
    "lNy~EK)x@MYa8gR8Fv2oT*O~9_63jISYRb}Di7cmrABdkagyTw?8#R}tqy?6GikALu_CvutmP~otgUCc<RL7U{T9"
    "&rj}csa@)puhZNgvV?DFRKceUgkooP-k2@^z)ULOzM9qibD2D7d94^lp&v)lGS&~_+OLu*=AA1sT@O(q677(>=3?"
    "D!=uwt>6R!KfZ%!cBq$(TIO(<J492ioN*=oV2ePUuSY_U*E;x(FjRfA|*WY@~mReJEJMdm}o1s^J#wEZpItrjU"
)
