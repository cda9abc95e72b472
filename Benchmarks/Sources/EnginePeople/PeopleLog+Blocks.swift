public import BenchSupport
import StrataIO
import StrataLog
import SystemPackage

extension PeopleLog {
    /// Keys of the live rows of an entity, block by block, in any store of this engine; reads no rows.
    public static func blocks(ofEntityNamed name: String, in folder: Folder) throws -> [Range<UInt64>] {
        var options = LogOptions()
        options.access = .readOnly
        let store = try LogStore.open(FilePath(folder.path), in: PosixFileSystem(), options: options, schema: nil)
        guard let entity = store.schema.entities.first(where: { $0.name == name }) else {
            throw BenchFailure("no entity is called \(name)")
        }
        var blocks: [Range<UInt64>] = []
        try store.snapshot.forEachRun(root: entity.rootID) { run in
            blocks.append(run.firstKey..<run.firstKey + UInt64(run.count))
            return true
        }
        try store.close()
        return blocks
    }
}
