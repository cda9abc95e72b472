/// The shapes of models found in public projects, with other names: together they use every feature that about sixty
/// such models use.
enum ModelShapeFixtures {
    static let all = text.split(separator: "---\n").map { String($0) }

    private static let text = """
        entity E0 class=ClassE0
          attribute p0 string optional
          attribute p1 int32 optional default=0
          relationship p2 E1 inverse=E1.p3 maximum=1 optional rule=nullify
        entity E1 class=ClassE1
          attribute p4 uuid optional
          attribute p5 boolean optional
          attribute p6 binary optional
          relationship p3 E0 inverse=E0.p2 optional rule=cascade
        ---
        entity E0 class=ClassE0 abstract
        entity E1 class=ClassE1
        entity E2 class=ClassE2
        entity E3 parent=E5 class=ClassE3 userInfo=1
        entity E4 class=ClassE4
        entity E5 class=ClassE5 userInfo=1
          attribute p0 transformable optional class=ValueClass
          attribute p1 binary optional userInfo=1
          attribute p2 boolean
          attribute p3 date optional
          attribute p4 decimal optional default=0.0
          attribute p5 double default=0.0
          attribute p6 float default=0.0
          attribute p7 int16 default=0
          attribute p8 int32 default=0
          attribute p9 int64 default=0
          attribute p10 int16 optional default=0 userInfo=2
          attribute p11 int16 optional default=0 userInfo=3
          attribute p12 boolean optional
          attribute p13 double optional default=0.0
          attribute p14 float default=0.0
          attribute p15 int16 optional default=0
          attribute p16 int32 default=0
          attribute p17 int64 optional default=0
          attribute p18 string optional
          attribute p19 string
          attribute p20 string optional userInfo=1
          attribute p21 transformable optional
          attribute p22 transformable optional class=ValueClass
          attribute p23 transformable optional class=ValueClass
          attribute p24 string optional transient
          attribute p25 uri optional
          attribute p26 uuid optional
          relationship p27 E7 inverse=E7.p27 optional rule=nullify
          relationship p28 E7 inverse=E7.p28 optional ordered rule=nullify
          relationship p29 E7 inverse=E7.p29 maximum=1 optional rule=nullify
          fetched p30 E6 optional
        entity E6 parent=E0 class=ClassE6
          attribute p31 uuid optional
          unique p31
          index byIdentifier p31
        entity E7 class=ClassE7
          attribute p32 string
          relationship p27 E5 inverse=E5.p27 optional rule=nullify
          relationship p28 E5 inverse=E5.p28 maximum=1 optional rule=nullify
          relationship p29 E5 inverse=E5.p29 maximum=1 optional rule=nullify
        configuration Custom E6
        template DictionaryFetchRequest E5
        template ObjectFetchRequest E5 predicate
        template ObjectIDFetchRequest E5 predicate
        ---
        entity E0 class=ClassE0
          attribute p0 string
          relationship p1 E3 inverse=E3.p2 maximum=1 optional rule=nullify
        entity E1 class=ClassE1
          attribute p3 string indexed
          attribute p4 int64 indexed default=0 minimum=0
          relationship p5 E4 inverse=E4.p6 maximum=1 optional rule=nullify userInfo=1
          relationship p7 E4 inverse=E4.p8 maximum=1 minimum=1 optional rule=nullify userInfo=1
          compound p3 p4
        entity E2 class=ClassE2
          attribute p9 string indexed
          attribute p10 string
          attribute p11 string optional indexed userInfo=1
          relationship p12 E3 inverse=E3.p9 optional rule=cascade userInfo=1
        entity E3 class=ClassE3
          attribute p10 string indexed
          attribute p13 transformable optional transformer=Transformer
          attribute p14 int16 default=0
          relationship p2 E0 inverse=E0.p1 optional rule=cascade
          relationship p9 E2 inverse=E2.p12 maximum=1 minimum=1 rule=nullify
          relationship p5 E4 inverse=E4.p12 maximum=1 minimum=1 rule=nullify
          compound p10 p14
        entity E4 class=ClassE4
          attribute p15 int64 indexed default=0 minimum=0
          attribute p16 string optional
          attribute p17 date
          attribute p14 int16 default=0
          attribute p18 string optional
          relationship p6 E1 inverse=E1.p5 maximum=1 minimum=1 rule=cascade
          relationship p8 E1 inverse=E1.p7 optional rule=cascade
          relationship p12 E3 inverse=E3.p5 optional rule=cascade
        version 2
        ---
        entity E0 class=ClassE0
          attribute p0 date optional
          attribute p1 string optional
          attribute p2 string
          relationship p3 E2 inverse=E2.p4 maximum=1 optional rule=nullify
          relationship p5 E3 inverse=E3.p4 maximum=1 optional rule=nullify
          relationship p6 E3 inverse=E3.p7 optional rule=deny
          unique p2
        entity E1 parent=E4 class=ClassE1 renaming=old
          attribute p8 boolean optional default=NO
        entity E2 class=ClassE2
          attribute p9 string
          relationship p4 E0 inverse=E0.p3 optional rule=nullify
          unique p9
        entity E3 class=ClassE3
          attribute p10 string optional
          attribute p11 string optional
          attribute p12 date
          relationship p4 E0 inverse=E0.p5 optional rule=nullify
          relationship p7 E0 inverse=E0.p6 optional rule=nullify
          unique p10 p11
        entity E4 parent=E0 class=ClassE4
        version 3
        ---
        entity E0 class=ClassE0
          attribute p0 int16 default=0
          attribute p1 string default=NumberHolder
        ---
        entity E0 class=ClassE0
          attribute p0 binary optional external
          attribute p1 int64 default=0
        ---
        entity E0 modifier=v2
          attribute p0 double default=0
          attribute p1 string
        ---
        entity E0
          attribute p0 string optional
          relationship p1 E1 inverse=E1.p2 maximum=1 optional rule=nullify
          relationship p3 E1 inverse=E1.p4 maximum=1 optional rule=nullify
          relationship p5 E1 inverse=E1.p6 maximum=1 optional rule=nullify
          relationship p7 E1 inverse=E1.p8 maximum=1 optional rule=nullify
          relationship p9 E1 inverse=E1.p10 optional rule=nullify
        entity E1
          attribute p11 binary optional truth
          attribute p12 date optional
          attribute p13 int16 default=0 minimum=0
          attribute p0 string optional
          relationship p6 E0 inverse=E0.p5 maximum=1 optional rule=nullify
          relationship p8 E0 inverse=E0.p7 optional rule=cascade
          relationship p10 E0 inverse=E0.p9 optional rule=nullify
          relationship p14 E1 inverse=E1.p15 optional rule=nullify
          relationship p2 E0 inverse=E0.p1 maximum=2 optional rule=cascade
          relationship p4 E0 inverse=E0.p3 optional ordered rule=cascade
          relationship p15 E1 inverse=E1.p14 maximum=1 optional rule=nullify
        ---
        entity E0 class=ClassE0
          attribute p0 boolean
          attribute p1 boolean optional default=NO modifier=3
          attribute p2 date optional
          attribute p3 string optional
          attribute p4 string optional modifier=3
          attribute p5 string modifier=3
          relationship p6 E0 inverse=E0.p7 optional ordered rule=cascade
          relationship p8 E0 inverse=E0.p9 maximum=1 optional rule=nullify
          relationship p9 E0 inverse=E0.p8 optional ordered rule=nullify
          relationship p7 E0 inverse=E0.p6 maximum=1 optional rule=nullify
          index byUUID p5 p1
          index byURL p4 p1
          index byIsPendingDeletion p1
        ---
        entity E0 parent=E6 class=ClassE0
          attribute p0 string optional
          attribute p1 int16 optional default=0
          relationship p2 E7 inverse=E7.p3 maximum=1 minimum=1 optional rule=nullify
        entity E1 parent=E4 class=ClassE1
          attribute p4 int16 optional default=0
        entity E2 parent=E4 class=ClassE2
          attribute p5 int16 optional default=0
        entity E3 class=ClassE3
          attribute p6 string optional
        entity E4 class=ClassE4
          attribute p7 int16 optional default=0
        entity E5 class=ClassE5
          attribute p8 string optional
        entity E6 class=ClassE6 userInfo=2
          attribute p9 int16 default=0 minimum=0 userInfo=1
          attribute p10 int16 default=0 userInfo=1
          attribute p11 string optional
          relationship p12 E3 maximum=1 minimum=1 optional rule=nullify
        entity E7 parent=E6 class=ClassE7
          attribute p13 binary optional
          attribute p14 boolean optional
          attribute p15 date optional
          attribute p16 decimal optional
          attribute p17 double optional
          attribute p18 float optional
          attribute p19 int16 optional
          attribute p20 int16 optional transient
          attribute p21 int32 optional
          attribute p22 int64 optional
          attribute p23 string optional
          attribute p24 transformable optional
          attribute p25 string optional
          relationship p26 E0 optional rule=cascade
          relationship p3 E0 inverse=E0.p2 optional ordered rule=cascade
        entity E8 parent=E6 class=ClassE8 userInfo=1
          attribute p27 string optional
        template allHumans E6
        template byHumanName E6 predicate
        template byParent E0 predicate
        template byParentName E0 predicate
        template oneByHumanName E6 predicate
        """
}
