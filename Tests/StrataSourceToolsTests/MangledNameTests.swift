import Testing

@testable import StrataSourceTools

@Suite struct MangledNameTests {
    @Test(arguments: [
        ("s:3Mod6AuthorC5moneyXevp", true), ("s:3Mod6AuthorC4kidsXevp", true),
        // The letters within an identifier.
        ("s:3Mod6AuthorC5XenonSivp", false), ("s:3Mod5XeXeXC4nameSSSgvp", false),
        // Words of earlier identifiers, an operator behind them, and a length that has two digits.
        ("s:9BookShelf0aB0C4bookAA0A0Cvp", false), ("s:9BookShelfAAC0A4NameXevp", true),
        ("s:3Mod6AuthorC10abcdefghXeXevp", true), ("s:3Mod6AuthorC10abcdefghXeSivp", false),
    ])
    func unresolvedTypesAreFound(_ name: String, _ expected: Bool) {
        #expect(MangledName.hasUnresolvedType(name) == expected)
    }

    @Test(arguments: [
        ("$s3Mod1P33_339745E743C20E4B5B8ACC0C0588F9F2LLCD", true), ("$s3Mod4LLLLCD", false), ("$sSSSgD", false),
    ])
    func privateTypesAreFound(_ name: String, _ expected: Bool) {
        #expect(MangledName.hasPrivateName(name) == expected)
    }
}
