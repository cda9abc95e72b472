import Foundation
import StrataModelFile
import StrataModelXML
import Testing

/// What is said of model files that are wrong.
@Suite struct XcodeModelDiagnosticsTests {
    @Test(arguments: [
        (
            "<attribute name=\"a\" attributeType=\"String\" colour=\"red\"/>",
            "f:4: warning: Item.a: <attribute> has an unknown attribute, colour=\"red\", which is ignored"
        ),
        (
            "<attribute name=\"a\" attributeType=\"String\"><b/></attribute>",
            "f:4: warning: Item.a: <attribute> has an unknown element, <b>, which is ignored"
        ),
        (
            "<attribute name=\"a\" attributeType=\"String\">b</attribute>",
            "f:4: warning: Item.a: <attribute> has text, which is ignored"
        ),
        ("<attribute name=\"a\" attributeType=\"Text\"/>", "f:4: error: Item.a: attributeType=\"Text\" is no type"),
        (
            "<attribute name=\"a\" attributeType=\"String\" optional=\"perhaps\"/>",
            "f:4: error: Item.a: optional=\"perhaps\" is neither YES nor NO"
        ),
        (
            "<attribute name=\"a\" attributeType=\"Integer 16\" defaultValueString=\"40000\"/>",
            "f:4: warning: Item.a: defaultValueString=\"40000\" is no value of type Integer 16 and is ignored"
        ),
        (
            "<attribute name=\"a\" attributeType=\"Decimal\" defaultValueString=\"1,5\"/>",
            "f:4: warning: Item.a: defaultValueString=\"1,5\" is no value of type Decimal and is ignored"
        ),
        (
            "<attribute name=\"a\" attributeType=\"Boolean\" defaultValueString=\"maybe\"/>",
            "f:4: warning: Item.a: defaultValueString=\"maybe\" is no value of type Boolean and is ignored"
        ),
        (
            "<attribute name=\"a\" attributeType=\"Integer 32\" defaultValueString=\"NO\"/>",
            "f:4: warning: Item.a: defaultValueString=\"NO\" is no value of type Integer 32; 0 is taken for it"
        ),
        (
            "<attribute name=\"a\" attributeType=\"UUID\" defaultValueString=\"empy\"/>",
            "f:4: warning: Item.a: defaultValueString=\"empy\" is no value of type UUID and is ignored"
        ),
        (
            "<attribute name=\"a\" attributeType=\"Date\" defaultDateTimeInterval=\"now\"/>",
            "f:4: warning: Item.a: defaultDateTimeInterval=\"now\" is no number of seconds and is ignored"
        ),
        (
            "<attribute name=\"a\" attributeType=\"Integer 64\" minValueString=\"0.0\"/>",
            "f:4: warning: Item.a: minValueString=\"0.0\" is no value of type Integer 64; 0 is taken for it"
        ),
        (
            "<attribute name=\"a\" attributeType=\"Date\" defaultValueString=\"now\"/>",
            "f:4: warning: Item.a: defaultValueString=\"now\" is ignored, since the attribute is a Date"
        ),
        (
            "<attribute name=\"a\" attributeType=\"Integer 16\" regularExpressionString=\"x\"/>",
            "f:4: warning: Item.a: regularExpressionString is ignored, since the attribute is no String"
        ),
        ("<attribute attributeType=\"String\"/>", "f:4: error: Item: <attribute> has no attribute 'name'"),
        (
            "<relationship name=\"r\" deletionRule=\"Forget\"/>",
            "f:4: error: Item.r: deletionRule=\"Forget\" is none of Nullify, Cascade, Deny and No Action"
        ),
        (
            "<relationship name=\"r\" toMany=\"YES\" maxCount=\"1\"/>",
            "f:4: warning: Item.r: a to-many relationship of at most one object is a to-one relationship at run time"
        ),
        ("<relationship name=\"r\" maxCount=\"-1\"/>", "f:4: error: Item.r: maxCount=\"-1\" is no count"),
        (
            "<fetchIndex name=\"i\"><fetchIndexElement type=\"Hash\" property=\"a\"/></fetchIndex>",
            "f:4: error: Item.i: type=\"Hash\" is neither Binary nor RTree"
        ),
        (
            "<userInfo><entry key=\"k\" value=\"1\"/><entry key=\"k\" value=\"2\"/></userInfo>",
            "f:4: warning: Item: the user info has two entries for 'k'; the last one counts"
        ),
        (
            "<fetchRequest name=\"r\" entity=\"Item\"/>",
            "f:4: warning: Item: <entity> has an unknown element, <fetchRequest>, which is ignored"
        ),
    ])
    func aMistakeIsToldWithFileLineEntityAndProperty(body: String, expected: String) throws {
        #expect(try ModelFixtures.diagnostics(ModelFixtures.model(body)) == [expected])
    }

    @Test(arguments: [("0.0", false), ("1.0", true), ("-2", true), ("YES", true), ("0", false)])
    func aNumberIsABoolean(_ text: String, _ expected: Bool) throws {
        let xml = ModelFixtures.model(
            "<attribute name=\"a\" attributeType=\"Boolean\" defaultValueString=\"\(text)\"/>")
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString + ".xcdatamodel")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appendingPathComponent("contents")
        try Data(xml.utf8).write(to: file)
        let version = try #require(try XcodeModel.model(contentsOf: file).versions.first)
        let attributes = version.document.entities.flatMap(\.attributes)
        #expect(attributes.map(\.defaultValue) == [.boolean(expected)])
    }

    static let misfits: [(ModelDocument.AttributeType, String, ModelDocument.Value?)] =
        [ModelDocument.AttributeType.integer16, .integer32, .integer64].flatMap { type in
            [
                (type, "0.0", .integer(0)), (type, "NO", .integer(0)), (type, "YES", .integer(1)),
                (type, "true", .integer(1)), (type, "1.0", .integer(1)), (type, "-2.9", .integer(-2)),
                (type, "1e3", .integer(1000)), (type, "-0.5", .integer(0)), (type, "1e300", nil), (type, "nan", nil),
                (type, "99999999999999999999", nil), (type, "12 px", nil), (type, "nil", nil),
            ]
        } + [
            (.integer16, "32768", nil), (.integer16, "32767.5", .integer(32767)), (.integer16, "-32769.0", nil),
            (.integer32, "2147483648.0", nil), (.integer64, "9223372036854775808.0", nil),
            (.double, "YES", .real(1)), (.double, "NO", .real(0)), (.double, "1,5", nil), (.double, "abc", nil),
            (.float, "YES", .real(1)), (.float, "NO", .real(0)), (.float, "-", nil),
            (.decimal, "YES", .decimal("1")), (.decimal, "NO", .decimal("0")), (.decimal, "1.5.2", nil),
            (.boolean, "maybe", nil), (.uuid, "empy", nil), (.uuid, "0", nil), (.date, "0", nil), (.date, "NO", nil),
            (.binary, "00", nil), (.transformable, "x", nil), (.undefined, "x", nil), (.composite, "x", nil),
            (.objectID, "x", nil),
        ]

    /// A model of a shipped program could not be built, since Xcode's compiler takes such texts: its 259 tests did not
    /// run.
    @Test(arguments: misfits)
    func aDefaultValueOfAnotherTypeIsAWarning(
        type: ModelDocument.AttributeType, text: String, expected: ModelDocument.Value?
    ) throws {
        let xml = ModelFixtures.model(
            "<attribute name=\"a\" attributeType=\"\(type.rawValue)\" defaultValueString=\"\(text)\"/>")
        let (document, diagnostics) = try XcodeModel.read(Data(xml.utf8), file: "f")
        #expect(document.entities.first?.attributes.map(\.defaultValue) == [expected])
        let diagnostic = try #require(diagnostics.first)
        #expect(diagnostics.count == 1 && diagnostic.severity == .warning)
        #expect("\(diagnostic)".hasPrefix("f:4: warning: Item.a: defaultValueString=\"\(text)\" is "))
    }

    @Test func limitsOfAnotherTypeAreWarnings() throws {
        let xml = ModelFixtures.model(
            """
            <attribute name="a" attributeType="Integer 16" minValueString="-1.0" maxValueString="many"/>
            <attribute name="b" attributeType="String" minValueString="2.0" maxValueString="YES"/>
            <attribute name="c" attributeType="Date" minDateTimeInterval="soon" maxDateTimeInterval="5"/>
            """)
        let (document, diagnostics) = try XcodeModel.read(Data(xml.utf8), file: "f")
        let attributes = try #require(document.entities.first?.attributes)
        #expect(attributes.map(\.minimum) == [.integer(-1), .integer(2), nil])
        #expect(attributes.map(\.maximum) == [nil, .integer(1), .date(5)])
        #expect(diagnostics.map(\.property) == ["a", "a", "b", "b", "c"].sorted())
        #expect(diagnostics.allSatisfy { $0.severity == .warning })
    }

    @Test func anErrorStopsReadingAsAModelAndAWarningDoesNot() throws {
        try ModelFixtures.withDirectory { directory in
            let file = directory.appendingPathComponent("contents")
            try Data(ModelFixtures.model("<attribute name=\"a\" attributeType=\"Text\"/>").utf8).write(to: file)
            let error = #expect(throws: ModelFileError.self) { try XcodeModel.model(contentsOf: file) }
            #expect(error?.message.contains("contents:4: error: Item.a: ") == true)
            try Data(ModelFixtures.model("<unknown/>").utf8).write(to: file)
            #expect(try XcodeModel.model(contentsOf: file).versions.count == 1)
        }
    }

    static let hostile: [String: Data] = [
        "nothing": Data(),
        "no XML": Data("entity Book".utf8),
        "cut short": Data(ModelFixtures.complete.utf8.prefix(3000)),
        "two roots": Data("<model/><model/>".utf8),
        "binary": Data([0x62, 0x70, 0x6c, 0x69, 0x73, 0x74, 0xff, 0, 1]),
        "entities to expand": Data(
            """
            <?xml version="1.0"?><!DOCTYPE model [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
            <model documentVersion="&b;"/>
            """.utf8),
        "a file to include": Data(
            "<!DOCTYPE model [<!ENTITY x SYSTEM \"file:///etc/hostname\">]><model documentVersion=\"&x;\"/>".utf8),
        "another encoding": Data("<?xml version=\"1.0\" encoding=\"UTF-7\"?><model/>".utf8),
        "UTF-16": Data([0xff, 0xfe, 0x3c, 0, 0x61, 0, 0x2f, 0, 0x3e, 0]),
        "too deep": Data((String(repeating: "<a>", count: 50_000)).utf8),
    ]

    @Test(arguments: hostile.keys.sorted())
    func hostileFilesAreRefused(name: String) throws {
        let data = try #require(Self.hostile[name])
        let error = #expect(throws: ModelFileError.self) { try XcodeModel.read(data, file: "f") }
        #expect(error?.code == .damaged && error?.message.hasPrefix("f: ") == true)
    }

    @Test func anotherRootIsAnError() throws {
        #expect(try ModelFixtures.diagnostics("<plist/>") == ["f:1: error: the root is <plist> and not <model>"])
    }
}
