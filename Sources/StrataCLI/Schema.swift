import ArgumentParser
import Foundation
import Strata
import StrataBrowsing
import StrataModelFile
import StrataModelXML

/// The model that a store was written with.
struct Schema: ParsableCommand {
    /// The forms in which models are printed.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case text
        case mermaid
        case graphviz
        /// The XML of an `.xcdatamodel`.
        case xcdatamodel
    }

    static let configuration = CommandConfiguration(
        abstract: "Print the model that a store was written with.",
        discussion: """
            Text is for reading. Mermaid is an entity relationship diagram, as Markdown of many sites shows it, \
            Graphviz what dot draws, for instance: strata schema Store --format graphviz | dot -Tsvg > model.svg. \
            xcdatamodel is the file "contents" of a directory Name.xcdatamodel, which Xcode and Strata's plugin read.
            """)

    @OptionGroup var argument: StoreArgument
    @Argument(
        help: "The entities to print; all if none is named. xcdatamodel has the whole model.",
        completion: NameCompletion.entities)
    var entities: [String] = []
    @Option(name: .shortAndLong, help: "How to print: \(Form.allCases.map(\.rawValue).joined(separator: ", ")).")
    var format = Form.text
    @Option(help: "A point of the past: a transaction number or a time, such as 2026-05-01T12:00.")
    var at: Point?

    func validate() throws {
        if format == .xcdatamodel, !entities.isEmpty {
            throw ValidationError("--format xcdatamodel prints the whole model: name no entities.")
        }
    }

    func run() throws {
        try reporting {
            let model = try model()
            var document = try model.document()
            if format == .xcdatamodel {
                Terminal.output.write(String(decoding: try XcodeModel.data(of: document), as: UTF8.self))
                return Terminal.output.flush()
            }
            if !entities.isEmpty {
                let names = Set(try entities.map { try model.entity(named: $0).name ?? "" })
                document.entities.removeAll { !names.contains($0.name) }
            }
            document.entities.sort { $0.name < $1.name }
            switch format {
            case .text: SchemaText(document).print(to: Terminal.output)
            case .mermaid: Terminal.output.write(SchemaDiagram(document).mermaid)
            case .graphviz: Terminal.output.write(SchemaDiagram(document).graphviz)
            case .xcdatamodel: break
            }
            Terminal.output.flush()
        }
    }

    /// As it was stored: sessions name other classes.
    private func model() throws -> NSManagedObjectModel {
        guard let at else { return try NSManagedObjectModel(storedAt: argument.url) }
        let session = try argument.session()
        return try session.coordinator.past(at.generation(session.coordinator)).managedObjectModel
    }
}
