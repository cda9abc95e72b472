import BenchSupport
import EnginePeople
import ObjectPeople

/// Which layer is measured.
enum Variant: String {
    /// StrataLog alone.
    case engine
    /// Contexts and managed objects.
    case objects

    /// Opens the store, creating it when the folder is empty.
    func open(_ folder: Folder, _ flushing: Flushing, isIndexed: Bool = false) throws -> any BenchStore {
        switch self {
        case .engine:
            var options = PeopleLog.Options()
            options.flushing = flushing
            options.isIndexed = isIndexed
            return try PeopleLog(in: folder, options: options)
        case .objects: return try PeopleGraph(in: folder, flushing: flushing, isIndexed: isIndexed)
        }
    }

    /// How a row with all its fields is read where peers make whole records of it.
    var wholeRow: ReadManner { .strings }
}
