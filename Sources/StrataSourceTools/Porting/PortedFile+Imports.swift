/// Imports of parts of Core Data, of what there is not, and those that are missing.
extension PortedFile {
    private static let applesOwn: Set<String> = [
        "UIKit", "AppKit", "SwiftUI", "Combine", "CloudKit", "CoreSpotlight", "CoreLocation", "MapKit", "WidgetKit",
        "os", "OSLog", "ObjectiveC", "SwiftData",
    ]

    private static let logs: Set<String> = ["os", "OSLog"]
    private static let accessLevels: [Substring] = ["public", "package", "internal", "fileprivate", "private"]

    mutating func rewriteImport(_ node: SyntaxNode, _ range: (start: Int, end: Int)) {
        let path = node.fields["module_path"] as? [String] ?? []
        if let module = path.first, Self.applesOwn.contains(module) {
            let advice = Self.logs.contains(module) ? "; log with the package swift-log, or print" : ""
            let name = path.joined(separator: ".")
            return note(remaining: range.start, "import \(name): there is no such module\(advice)")
        }
        let text = source.text(range.start..<source.endOfToken(range.end))
        guard path.first == "CoreData", text != "import CoreData" else { return }
        edits.replace(range.start..<source.endOfToken(range.end), with: "import CoreData")
        note(change: range.start, "\(text) imports all of CoreData")
    }

    /// What Foundation has on Apple's platforms, and Strata here.
    mutating func importWhatFoundationLacks() {
        let imports = tree.list("items").filter { $0.kind == "import_decl" && !$0.isImplicit }
        let modules = imports.map { ($0.fields["module_path"] as? [String])?.first ?? "" }
        let observer = observing.map { (name: "observing by a method", offset: $0) }
        guard !modules.contains(where: { ["CoreData", "Strata", "StrataSchema"].contains($0) }),
            let place = modules.firstIndex(of: "Foundation") ?? modules.indices.first, let range = imports[place].range,
            let use = FoundationNames.firstUse(in: source, except: declarations.types) ?? observer
        else { return }
        guard hasCoreData else {
            return note(
                remaining: use.offset,
                "\(use.name) is Strata's on Linux: let the target depend on the product CoreData, and import it")
        }
        let start = source.bytes[..<range.start].lastIndex(of: SourceText.newline).map { $0 + 1 } ?? 0
        // The compiler does not print how public an import is.
        let access = source.text(start..<range.start).split(separator: " ").filter { Self.accessLevels.contains($0) }
        edits.insert((access + ["import CoreData"]).joined(separator: " ") + "\n", at: start)
        note(change: use.offset, "\(use.name) is Strata's on Linux: import CoreData")
    }
}
