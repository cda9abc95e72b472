import Foundation
import Testing

@testable import StrataSourceTools

/// Subclasses of what is Sendable without being checked.
@Suite struct SharedClassTests {
    @Test(arguments: [
        ("class T: ValueTransformer {}\n", "class T: ValueTransformer, @unchecked Sendable {}\n"),
        (
            "@objc(T) final class T: NSSecureUnarchiveFromDataTransformer\n{\n}\n",
            "final class T: NSSecureUnarchiveFromDataTransformer, @unchecked Sendable\n{\n}\n"
        ),
        ("class C: NSManagedObjectContext, P {}\n", "class C: NSManagedObjectContext, @unchecked Sendable, P {}\n"),
        (
            "enum E { class C: CoreData.NSPersistentContainer {} }\n",
            "enum E { class C: CoreData.NSPersistentContainer, @unchecked Sendable {} }\n"
        ),
        (
            "class A: NSMergePolicy, @unchecked Sendable {}\nclass B: A {}\n",
            "class A: NSMergePolicy, @unchecked Sendable {}\nclass B: A, @unchecked Sendable {}\n"
        ),
    ])
    func eachSaysItOnce(_ text: String, _ expected: String) throws {
        let fixture = try SourceFixture([("File.swift", "import CoreData\n" + text)])
        let ported = try #require(try fixture.ported("File.swift"))
        #expect(ported == "import CoreData\n" + expected)
        try fixture.write("File.swift", ported)
        #expect(try fixture.report().rewritten.isEmpty)
    }

    @Test(arguments: [
        "class ValueTransformer: NSObject {}\nclass T: ValueTransformer {}\n", "class T: NSManagedObject {}\n",
        "class T: ValueTransformer {}\nextension T: @unchecked Sendable {}\n", "class T: Other<ValueTransformer> {}\n",
        "struct T: Hashable {}\nclass U { class V {} }\n",
    ])
    func othersStay(_ text: String) throws {
        let fixture = try SourceFixture([("File.swift", "import CoreData\n" + text)])
        #expect(try fixture.report().rewritten.isEmpty)
    }
}
