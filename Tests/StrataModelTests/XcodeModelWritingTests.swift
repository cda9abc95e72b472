import Foundation
import StrataModelFile
import StrataModelXML
import Testing

/// Documents written as Xcode's XML.
@Suite struct XcodeModelWritingTests {
    @Test func whatIsWrittenReadsAsTheSameDocument() throws {
        let document = try ModelFixtures.document()
        let written = try XcodeModel.data(of: document)
        let read = try XcodeModel.read(written, file: "again")
        #expect(read.document == document && read.diagnostics.isEmpty)
        #expect(try XcodeModel.data(of: read.document) == written)
    }

    @Test func textThatXMLWouldChangeIsKept() throws {
        var document = ModelDocument()
        var entity = ModelDocument.Entity(name: "A")
        entity.userInfo = ["k<&>\"'": .string("two\nlines\tand \u{1F4DA} \r end")]
        document.entities = [entity]
        #expect(
            try ModelFixtures.document(String(decoding: try XcodeModel.data(of: document), as: UTF8.self)).entities
                == [entity])
    }

    @Test func versionsAreWrittenWithTheCurrentOne() throws {
        try ModelFixtures.withDirectory { directory in
            let bundle = directory.appendingPathComponent("Shop.xcdatamodeld", isDirectory: true)
            let model = VersionedModel(
                versions: [
                    VersionedModel.Version(name: "One", document: ModelDocument()),
                    VersionedModel.Version(name: "Two", document: try ModelFixtures.document()),
                ], currentName: "Two")
            try XcodeModel.write(model, to: bundle)
            let read = try XcodeModel.model(contentsOf: bundle)
            #expect(read.currentName == "Two" && read.current == model.current && read.versions.count == 2)
        }
    }

    /// Foundation opens the files: one on a descriptor that programs print to would be overwritten.
    @Test func modelsAreWrittenWithTheStandardDescriptorsOccupied() async {
        await #expect(processExitsWith: .success) {
            try ModelFixtures.withDirectory { directory in
                let document = try ModelFixtures.document()
                let model = VersionedModel(
                    versions: [VersionedModel.Version(name: "One", document: document)], currentName: "One")
                for (name, write) in [
                    ("One.xcdatamodel", { try XcodeModel.write(document, to: $0) }),
                    ("All.xcdatamodeld", { try XcodeModel.write(model, to: $0) }),
                    ("All.momd", { try model.writeCompiled(to: $0) }),
                ] as [(String, (URL) throws -> Void)] {
                    for number: Int32 in 0...2 { close(number) }
                    try write(directory.appendingPathComponent(name, isDirectory: true))
                    for number: Int32 in 0...2 where fcntl(number, F_GETFD) < 0 { exit(number + 1) }
                }
            }
            exit(0)
        }
    }

    static let unsayable: [String: @Sendable (inout ModelDocument) -> Void] = [
        "two identifiers": { $0.versionIdentifiers = ["1", "2"] },
        "a number as user info": { $0.entities[0].userInfo = ["k": .integer(1)] },
        "a validation predicate": {
            $0.entities[0].attributes[0].property.validations = [
                ModelDocument.Validation(predicate: "SELF != 'x'", warning: .string("x"))
            ]
        },
        "bytes as default": { $0.entities[0].attributes[0].defaultValue = .data(Data([1])) },
        "an order": { $0.fetchRequests[0].sorts = [ModelDocument.Sort(key: "title")] },
        "prefetching": { $0.fetchRequests[0].prefetchedKeyPaths = ["authors"] },
    ]

    @Test(arguments: unsayable.keys.sorted())
    func whatTheXMLCannotSayIsAnErrorAndNotLost(name: String) throws {
        var document = try ModelFixtures.document()
        let change = try #require(Self.unsayable[name])
        change(&document)
        let error = #expect(throws: ModelFileError.self) { try XcodeModel.data(of: document) }
        #expect(error?.code == .unwritable)
    }
}
