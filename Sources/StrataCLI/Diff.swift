import ArgumentParser
import Foundation
import Strata
import StrataBrowsing

/// What two points of a store, or two stores, have differently.
struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what differs between two points of a store, or two stores of one model.",
        discussion: """
            Of one store: strata diff Store 2026-05-01 2026-05-02, or with one point what came after it. A \
            relationship shows at its to-one end; if it is to-many at both ends, each member that came or went is a \
            change of its own.

            Of two stores: strata diff Store Copy prints what makes a Copy of Store. Objects are the same if their \
            entity and primary key are, as in back-ups, salvaged stores and what `import` made of an export. A \
            directory that is called like a point is written ./2026.

            JSON has a record for each object, CSV a row for each property.
            """)

    @OptionGroup var argument: StoreArgument
    @Argument(help: "A point of the past, or another store's directory.", completion: .directory)
    var from: String
    @Argument(help: "The point after; the newest state if there is none.")
    var to: Point?
    @Option(help: "Only objects of this entity, subentities included.", completion: NameCompletion.entities)
    var entity: String?
    @Flag(help: "Print only how many objects of each entity differ.")
    var summary = false
    @OptionGroup var output: OutputOptions

    private var otherStore: URL? {
        var isDirectory = false as ObjCBool
        guard FileManager.default.fileExists(atPath: from, isDirectory: &isDirectory), isDirectory.boolValue else {
            return nil
        }
        return URL(fileURLWithPath: from, isDirectory: true).resolvingSymlinksInPath()
    }

    func validate() throws {
        if otherStore != nil {
            if to != nil { throw ValidationError("Two stores are compared as they are now: name no point.") }
        } else if Point(argument: from) == nil {
            throw ValidationError("'\(from)' is neither a point of the past nor a directory.")
        }
    }

    func run() throws {
        try reporting {
            let session = try argument.session()
            let wanted = try entity.map { try session.entity($0) }
            let printer = DifferencePrinter(output, printsObjects: !summary)
            if let otherStore {
                let other = try Session(otherStore, nil)
                try StoreComparison(session, other).forEach(of: wanted) { printer.print($0) }
            } else if let from = Point(argument: from) {
                let coordinator = session.coordinator
                let before = try from.generation(coordinator)
                let after = try to?.generation(coordinator) ?? .current
                try coordinator.diff(from: before, to: after).forEach { difference in
                    if let wanted, !difference.objectID.entity.isKindOf(entity: wanted) { return }
                    printer.print(Difference(difference))
                }
            }
            printer.finish()
        }
    }
}

/// An object that two states have differently, as the command prints it.
struct Difference {
    enum Kind: String {
        case insert
        case update
        case delete
    }

    struct Value {
        let property: String
        let before: Cell
        let after: Cell
        /// Whether it is a member of a relationship that came or went.
        var isMember = false
    }

    let kind: Kind
    let entity: String
    let object: Cell
    let values: [Value]
}

extension Difference {
    init(_ difference: ObjectDifference) {
        kind =
            switch difference.kind {
            case .insert: .insert
            case .update: .update
            case .delete: .delete
            }
        let description = difference.objectID.entity
        entity = description.name ?? ""
        object = Cell(difference.objectID)
        values = difference.values.map { value in
            let attribute = description.attributesByName[value.property]
            let isMember = description.relationshipsByName[value.property]?.isToMany ?? false
            return Value(
                property: value.property,
                before: isMember && value.before == nil ? .absent : Cell(value.before, attribute),
                after: isMember && value.after == nil ? .absent : Cell(value.after, attribute), isMember: isMember)
        }.sorted { $0.property < $1.property }
    }
}
