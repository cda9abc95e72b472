import CoreData
import Foundation
import StrataIO
import StrataLog
import StrataModelFile
import StrataTestKit
import SystemPackage
import Testing

@testable import Strata

/// Property lists that would become more values than there is memory for, or call their reader until the stack is at
/// its end: wherever one is read, it is an error at once.
@Suite struct PropertyListLimitsTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private static func xml(nested levels: Int, between: String = "") -> Data {
        let start = String(repeating: "<array>\(between)", count: levels)
        let end = String(repeating: "</array>", count: levels)
        return Data(
            "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>a</key>\(start)\(end)</dict></plist>".utf8)
    }

    private static let traps: [(name: String, data: Data, problem: String)] = [
        ("shared", Data(PropertyListMaze.shared(levels: 60)), "more values than it has bytes"),
        ("nested", Data(PropertyListMaze.nested(levels: 100_000)), "nested too deeply"),
        ("circle", Data(PropertyListMaze.circle), "leads back into itself"),
        ("nested XML", xml(nested: 200_000), "nested too deeply"),
        ("XML with ends in comments", xml(nested: 200_000, between: "<!-- </array> -->"), "nested too deeply"),
        ("XML with ends in texts", xml(nested: 200_000, between: "<![CDATA[</array>]]>"), "nested too deeply"),
        ("the old form", Data("{ a = (\(String(repeating: "(", count: 200_000))".utf8), "no property list"),
        (
            "UTF-16", Data([0xFE, 0xFF] + Array("<plist>".utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }),
            "no property list"
        ),
        ("nothing", Data(), "no property list"),
    ]

    @Test(arguments: traps.indices) func aTrapIsAnError(_ index: Int) {
        let trap = Self.traps[index]
        for body in [{ _ = try PropertyListFile.value(trap.data) }, { try PropertyListFile.check(trap.data) }] {
            let error = #expect(throws: ArchiveError.self) { try body() }
            #expect(error?.description.contains(trap.problem) == true, "\(trap.name): \(error?.description ?? "")")
        }
    }

    @Test func whatIsTooLongIsNotLookedAt() {
        #expect(throws: ArchiveError.self) {
            try PropertyListFile.check(Data(count: 1_000), PropertyListLimits(byteCount: 999))
        }
    }

    private static func value(_ random: inout SeededGenerator, depth: Int) -> Any {
        switch Int.random(in: 0..<(depth > 3 ? 8 : 10), using: &random) {
        case 0: return Bool.random(using: &random)
        case 1: return Int.random(in: .min ... .max, using: &random)
        case 2: return UInt64.max - UInt64.random(in: 0...9, using: &random)
        case 3: return Double.random(in: -1e9...1e9, using: &random)
        case 4: return Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -9_999...9_999, using: &random)))
        case 5: return Data((0..<Int.random(in: 0...40, using: &random)).map { UInt8($0) })
        case 6: return ["", "a", "ü 🙂", "same", "same"].randomElement(using: &random) ?? ""
        case 7: return Int.random(in: -200...200, using: &random)
        case 8: return (0..<Int.random(in: 0...20, using: &random)).map { _ in value(&random, depth: depth + 1) }
        default:
            var values: [String: Any] = [:]
            for index in 0..<Int.random(in: 0...20, using: &random) {
                values["k\(index)"] = value(&random, depth: depth + 1)
            }
            return values
        }
    }

    /// What Foundation writes is read as Foundation reads it, to the types of the values.
    @Test func everythingThatFoundationWritesIsReadAsItReadsIt() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        func described(_ value: Any) -> String {
            switch value {
            case let list as [Any]: "[\(list.map(described).joined(separator: ", "))]"
            case let list as [String: Any]:
                "{\(list.sorted { $0.key < $1.key }.map { "\($0.key): \(described($0.value))" }.joined(separator: ", "))}"
            default: "\(type(of: value)) \(value)"
            }
        }
        for round in 0..<60 {
            let value =
                ["a": Self.value(&random, depth: 0), "b": Array(repeating: ["x": 1], count: 300)] as [String: Any]
            for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
                let data = try PropertyListSerialization.data(fromPropertyList: value, format: format, options: 0)
                let wanted = try PropertyListSerialization.propertyList(from: data, format: nil)
                let found = try PropertyListFile.value(data)
                #expect(described(found) == described(wanted), "seed \(seed), round \(round)")
                #expect((found as? NSDictionary) == (wanted as? NSDictionary), "seed \(seed), round \(round)")
            }
        }
    }

    // MARK: Where they are read

    @Test func aStoreWithSuchMetadataIsDamaged() throws {
        try Company.makeStore(scratch.url("store"))
        var options = LogOptions()
        options.createsIfMissing = false
        let log = try LogStore.open(
            FilePath(scratch.url("store").path), in: PosixFileSystem(), options: options, schema: nil)
        let before = log.metadata
        try log.setMetadata(PropertyListMaze.shared(levels: 40))
        #expect(throws: StoreError.self) { try StoreMetadata.check(log.metadata) }
        try log.close()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        for readOnly in [true, false] {
            let error = #expect(throws: CocoaError.self) {
                _ = try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: scratch.url("store"),
                    options: [NSReadOnlyPersistentStoreOption: readOnly])
            }
            #expect(error?.code == .fileReadCorruptFile)
        }
        #expect(throws: CocoaError.self) { _ = try StoreReader(scratch.url("store")) }
        #expect(throws: CocoaError.self) {
            _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: scratch.url("store"), options: nil)
        }
        // It is as it was, to be mended.
        let again = try LogStore.open(
            FilePath(scratch.url("store").path), in: PosixFileSystem(), options: options, schema: nil)
        #expect(again.metadata == PropertyListMaze.shared(levels: 40))
        try again.setMetadata(before)
        try again.close()
        #expect(try StoreReader(scratch.url("store")).metadata["owner"] as? String == "tests")
    }

    @Test(arguments: [NSBinaryStoreType, NSXMLStoreType]) func anAtomicStoreOfSuchIsDamaged(_ type: String) throws {
        let data = type == NSBinaryStoreType ? Data(PropertyListMaze.shared(levels: 40)) : Self.xml(nested: 200_000)
        try data.write(to: scratch.url("store"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let error = #expect(throws: CocoaError.self) {
            _ = try coordinator.addPersistentStore(
                ofType: type, configurationName: nil, at: scratch.url("store"), options: nil)
        }
        #expect(error?.code == .fileReadCorruptFile)
    }

    @Test func aModelsVersionListOfSuchNamesNoVersion() throws {
        let folder = scratch.url("Model.momd")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(PropertyListMaze.shared(levels: 40)).write(to: folder.appendingPathComponent("VersionInfo.plist"))
        #expect(NSManagedObjectModel(contentsOf: folder) == nil)
        let beside = AppleVersionHashes(beside: folder)
        var document = MappingDocument()
        #expect(beside.translate(&document))
    }

    @Test func aCompiledModelOfSuchIsDamaged() throws {
        let data = try CompiledModel.data(of: Company.model().document())
        #expect(try CompiledModel.document(from: data).entities.count == 6)
        let maze = PropertyListMaze.shared(levels: 40, key: "StrataModelFormat")
        #expect(CompiledModel.isCompiledModel(Data(maze)))
        let file = scratch.url("Model.mom")
        try Data(maze).write(to: file)
        #expect(NSManagedObjectModel(contentsOf: file) == nil)
    }

    @Test func anArchiveOfSuchIsNil() {
        let transformer = NSSecureUnarchiveFromDataTransformer()
        #expect(transformer.transformedValue(Data(PropertyListMaze.shared(levels: 40))) == nil)
        #expect(transformer.transformedValue(transformer.reverseTransformedValue(["a", ["b": 1]])) as? NSArray != nil)
    }
}
