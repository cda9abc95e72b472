import CoreData
import Foundation
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataTransfer

/// Files of strangers, and what lies beside them: an import changes nothing outside of its new store, and reads nothing
/// outside of the file's own folder.
@Suite struct HostileFileTests {
    private let scratch: Scratch
    private let folder: URL
    private var file: URL { folder.appendingPathComponent("Library.sqlite") }
    private var store: URL { scratch.url("store") }

    init() throws {
        scratch = try Scratch()
        folder = scratch.url("folder")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Company.makeStore(scratch.url("origin"))
        try CoreDataExporter(scratch.url("origin")).run(to: file)
    }

    private func text(_ error: (any Error)?) -> String { error.map { "\($0)" } ?? "" }

    private func importing(_ url: URL? = nil) throws -> CoreDataImporter.Report {
        try CoreDataImporter(url ?? file).run(to: store, model: Company.model())
    }

    private func mode(_ url: URL) throws -> Int {
        (try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }

    /// A rollback journal of a transaction over several databases.
    private static func journal(naming file: URL) -> [UInt8] {
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        func big(_ value: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
        var journal = magic + [0, 1, 2, 3, 4].flatMap { big([0, 0, 1, 512, 4096][$0]) }
        journal += [UInt8](repeating: 0, count: 512 - journal.count)
        let name = Array(file.path.utf8)
        return journal + big(0) + name + big(name.count) + big(name.reduce(0) { $0 + Int($1) }) + magic
    }

    /// A rollback journal that names another file made SQLite remove that file, whichever it was. A user lost a file of
    /// his own to a folder of somebody else's.
    @Test func aJournalCannotHaveAnotherFileRemoved() throws {
        let victim = scratch.url("precious.txt")
        try Data("keep".utf8).write(to: victim)
        let journal = Self.journal(naming: victim)
        let place = URL(fileURLWithPath: file.path + "-journal")
        try Data(journal).write(to: place)
        let error = #expect(throws: TransferError.self) { _ = try importing() }
        #expect(text(error).contains("-journal names another file"), "\(text(error))")
        #expect(FileManager.default.fileExists(atPath: victim.path))
        #expect(try Data(contentsOf: place) == Data(journal))
    }

    /// It was looked at, and then copied: whoever owns the folder may have written the name in between.
    @Test func aJournalThatIsChangedMeanwhileIsRefused() throws {
        let place = URL(fileURLWithPath: file.path + "-journal")
        let journal = Self.journal(naming: scratch.url("precious.txt"))
        try Data(journal.dropLast(8)).write(to: place)
        let source = try ForeignDatabase(file)
        try Data(journal).write(to: place, options: [])
        let error = #expect(throws: TransferError.self) {
            try source.copy(to: FilePath(scratch.url("copy.sqlite").path))
        }
        #expect(text(error).contains("-journal names another file"), "\(text(error))")
    }

    /// The journal of a program that was killed in the middle of a transaction.
    @Test func aHotJournalIsRolledBackInACopy() throws {
        let before = try importing()
        try FileManager.default.removeItem(at: store)
        let work = scratch.url("work.sqlite")
        try FileManager.default.copyItem(at: file, to: work)
        let database = try SQLiteFile.creating(work)
        try database.run("PRAGMA journal_mode = DELETE")
        try database.run("PRAGMA cache_size = 2")
        try database.run("BEGIN IMMEDIATE")
        try database.run("UPDATE ZPERSON SET ZNAME = 'gone', ZSTEPS = 1")
        try database.run("CREATE TABLE ZFILL (A)")
        for _ in 0..<40 { try database.run("INSERT INTO ZFILL VALUES (zeroblob(5000))") }
        for suffix in ["", "-journal"] {
            let target = file.path + suffix
            try? FileManager.default.removeItem(atPath: target)
            try FileManager.default.copyItem(atPath: work.path + suffix, toPath: target)
        }
        let bytes = try ["", "-journal"].map { try Data(contentsOf: URL(fileURLWithPath: file.path + $0)) }
        #expect(bytes[1].count > 512)
        #expect(try importing() == before)
        #expect(try ["", "-journal"].map { try Data(contentsOf: URL(fileURLWithPath: file.path + $0)) } == bytes)
    }

    @Test(arguments: ["-wal", "-journal"]) func aLogThatIsALinkIsRefused(_ suffix: String) throws {
        let victim = scratch.url("victim")
        try Data("precious".utf8).write(to: victim)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: victim.path)
        try FileManager.default.createSymbolicLink(atPath: file.path + suffix, withDestinationPath: victim.path)
        let error = #expect(throws: TransferError.self) { _ = try importing() }
        #expect(text(error).contains("is a link"), "\(text(error))")
        #expect(try mode(victim) == 0o644)
        #expect(try Data(contentsOf: victim) == Data("precious".utf8))
    }

    @Test(arguments: ["-wal", "-journal"]) func aLogThatIsNoFileIsRefused(_ suffix: String) throws {
        #expect(mkfifo(file.path + suffix, 0o600) == 0)
        let error = #expect(throws: TransferError.self) { _ = try importing() }
        #expect(text(error).contains("is no regular file"), "\(text(error))")
    }

    /// The log beside the file counts, not what lies beside a link to it. Both stay as they are.
    @Test(arguments: [false, true]) func aFileThatIsALinkIsReadWithItsOwnLog(_ linksTheLog: Bool) throws {
        let work = scratch.url("work.sqlite")
        try FileManager.default.copyItem(at: file, to: work)
        let database = try SQLiteFile.creating(work)
        try database.run("PRAGMA journal_mode = WAL")
        try database.run("PRAGMA wal_autocheckpoint = 0")
        try database.run("DELETE FROM ZNOTE")
        try FileManager.default.removeItem(at: file)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: work.path + suffix, toPath: file.path + suffix)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path + suffix)
        }
        let link = scratch.url("A.sqlite")
        for suffix in ["", "-wal"] where suffix.isEmpty || linksTheLog {
            try FileManager.default.createSymbolicLink(
                atPath: link.path + suffix, withDestinationPath: file.path + suffix)
        }
        let bytes = try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: file.path + $0)) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        _ = try importing(link)
        let notes = try TextTransfer.lines(of: store, in: scratch).filter { $0.contains("\"entity\":\"Note\"") }
        #expect(notes == [])
        #expect(try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: file.path + $0)) } == bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)
        #expect(try mode(file) == 0o644 && mode(URL(fileURLWithPath: file.path + "-wal")) == 0o644)
    }

    // MARK: External values

    private static let name = "0A0B0C0D-0000-0000-0000-00000000000F"

    private func external() throws -> URL {
        let place = folder.appendingPathComponent(".Library_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let database = try SQLiteFile.creating(file)
        let mark = ([2] + Array(Self.name.utf8) + [0]).map { String(format: "%02X", $0) }.joined()
        try database.run("UPDATE ZPERSON SET ZPHOTO = x'\(mark)' WHERE ZPHOTO IS NOT NULL")
        return place.appendingPathComponent(Self.name)
    }

    @Test func anExternalValueIsReadFromItsFile() throws {
        try Data([9, 8, 7]).write(to: try external())
        _ = try importing()
        #expect(
            try TextTransfer.text(of: store, in: scratch).contains(
                "\"photo\":\"\(Data([9, 8, 7]).base64EncodedString())\""))
    }

    enum Obstacle: CaseIterable { case link, linkedFolder, directory, pipe, nothing, huge }

    /// A link in the place of an external value brought any file of the user's into the store.
    @Test(arguments: Obstacle.allCases) func anExternalValueIsARegularFileOfItsFolder(_ obstacle: Obstacle) throws {
        let place = try external()
        let secret = scratch.url("secret")
        try Data("secret".utf8).write(to: secret)
        let expected: String
        switch obstacle {
        case .link:
            try FileManager.default.createSymbolicLink(at: place, withDestinationURL: secret)
            expected = "is a link"
        case .linkedFolder:
            let other = scratch.url("other")
            try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
            try Data("secret".utf8).write(to: other.appendingPathComponent(Self.name))
            try FileManager.default.removeItem(at: place.deletingLastPathComponent())
            try FileManager.default.createSymbolicLink(at: place.deletingLastPathComponent(), withDestinationURL: other)
            expected = "is no folder"
        case .directory:
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            expected = "is no regular file"
        case .pipe:
            #expect(mkfifo(place.path, 0o600) == 0)
            expected = "is no regular file"
        case .nothing: expected = "is missing"
        case .huge:
            try Data().write(to: place)
            #expect(truncate(place.path, Int(ExternalValues.maximumByteCount) + 1) == 0)
            expected = "takes more than"
        }
        let error = #expect(throws: TransferError.self) { _ = try importing() }
        #expect(text(error).contains(expected), "\(text(error))")
        #expect(!FileManager.default.fileExists(atPath: store.path))
    }

    // MARK: Property lists

    @Test func metadataOfSharedListsAreAnErrorAtOnce() throws {
        let list = PropertyListMaze.shared(levels: 40)
        let hex = list.map { String(format: "%02X", $0) }.joined()
        try SQLiteFile.creating(file).run("UPDATE Z_METADATA SET Z_PLIST = x'\(hex)'")
        let error = #expect(throws: TransferError.self) { _ = try importing() }
        #expect(text(error).contains("Z_PLIST: the property list becomes more values"), "\(text(error))")
    }

    @Test func metadataThatAreTooLongAreAnErrorAtOnce() throws {
        try SQLiteFile.creating(file).run("UPDATE Z_METADATA SET Z_PLIST = zeroblob(50 << 20)")
        let error = #expect(throws: TransferError.self) { _ = try importing() }
        #expect(text(error).contains("is too long"), "\(text(error))")
    }

    @Test func aHeaderOfJSONLinesWithSharedListsIsAnErrorAtOnce() throws {
        let lines = try TextTransfer.text(of: scratch.url("origin"), in: scratch).split(separator: "\n").map(
            String.init)
        let start = try #require(lines[0].range(of: "\"metadata\":\""))
        let end = try #require(lines[0][start.upperBound...].firstIndex(of: "\""))
        let maze = Data(PropertyListMaze.shared(levels: 40)).base64EncodedString()
        let text = String(lines[0][..<start.upperBound]) + maze + String(lines[0][end...])
        let path = scratch.url("maze.jsonl")
        try ([text] + lines.dropFirst()).joined(separator: "\n").write(to: path, atomically: true, encoding: .utf8)
        let error = #expect(throws: (any Error).self) {
            _ = try TextTransfer().readJSONLines(path.path, to: store, model: nil)
        }
        #expect(self.text(error).contains("metadata cannot be read"), "\(self.text(error))")
    }
}
