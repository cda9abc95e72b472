import ArgumentParser
import Foundation
import Strata
import StrataBrowsing

/// One object.
struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print one object with all its values and relationships.",
        discussion: "Exits with 3 when there is no such object.")

    @OptionGroup var argument: StoreArgument
    @Argument(help: "The object: the URI that the other verbs print, or its end, such as Employee/p12.")
    var uri: String
    @Option(help: "A point of the past: a transaction number or a time, such as 2026-05-01T12:00.")
    var at: Point?
    @OptionGroup var output: OutputOptions

    func run() throws {
        try reporting {
            let session = try argument.session(at: at)
            try session.context.performAndWait { try print(session) }
        }
    }

    private func print(_ session: Session) throws {
        let store = session.coordinator.persistentStores.first?.identifier ?? ""
        let text = uri.contains("://") ? uri : "x-coredata://\(store)/\(uri)"
        guard let url = URL(string: text),
            let id = session.coordinator.managedObjectID(forURIRepresentation: url)
        else { throw CommandError("\(uri) names no object of this store") }
        let object: NSManagedObject
        do {
            object = try session.context.existingObject(with: id)
        } catch let error as CocoaError where error.code == .managedObjectReferentialIntegrity {
            Terminal.messages.write("strata: there is no object \(uri)\n")
            Terminal.messages.flush()
            throw ExitCodes.notFound
        }
        let columns = ObjectColumns(object.entity, withToMany: true)
        let values = try session.context.throwingReadFailures { Array(zip(columns.names, columns.cells(object))) }
        let writer = RecordWriter(output, columns: ["uri"] + values.map(\.0), isEndless: true, isVertical: true)
        let uri = object.objectID.uriRepresentation().absoluteString
        // A table has it whole, too.
        writer.write([.text(uri)] + values.map(\.1))
        writer.finish()
    }
}
