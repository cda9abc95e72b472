/// Imports of parts of Core Data, of what there is not, and those that are missing.
extension PortedFile {
    private static let applesOwn: Set<String> = [
        "UIKit", "AppKit", "SwiftUI", "Combine", "CloudKit", "CoreSpotlight", "CoreLocation", "MapKit", "WidgetKit",
        "os", "OSLog", "ObjectiveC", "SwiftData",
    ]

    /// Modules that come with the toolchain on Linux.
    private static let toolchains: Set<String> = [
        "Cxx", "CxxStdlib", "Dispatch", "Distributed", "Foundation", "FoundationEssentials",
        "FoundationInternationalization", "FoundationNetworking", "FoundationXML", "Glibc", "Musl", "Observation",
        "RegexBuilder", "Runtime", "Swift", "Synchronization", "Testing", "XCTest", "_Concurrency",
        "_Differentiation", "_StringProcessing",
    ]
    private static let advice = [
        "os.lock": "; \(locking)", "os.signpost": "; leave signposts out", "os.activity": "; leave activities out",
        "Combine": "; this package has one, a product that comes with its trait Combine",
        "UniformTypeIdentifiers": "; write identifiers as strings",
    ]
    private static let accessLevels: [Substring] = ["public", "package", "internal", "fileprivate", "private"]

    mutating func rewriteImport(_ node: SyntaxNode, _ range: (start: Int, end: Int)) {
        let path = node.fields["module_path"] as? [String] ?? []
        if let module = path.first, !dependencies.modules.contains(module) {
            let name = path.joined(separator: ".")
            if Self.applesOwn.contains(module) || Self.advice[module] != nil {
                return report(
                    remaining: range.start, "import \(name): there is no such module\(advice(on: name, module))")
            }
            if dependencies.areAll, !Self.toolchains.contains(module) {
                return report(
                    remaining: range.start,
                    "import \(name): neither the toolchain nor what the target depends on has this module")
            }
        }
        let text = source.text(range.start..<source.endOfToken(range.end))
        guard path.first == "CoreData", text != "import CoreData" else { return }
        edits.replace(range.start..<source.endOfToken(range.end), with: "import CoreData")
        report(change: range.start, "\(text) imports all of CoreData")
    }

    private static let logging = "log with the package swift-log, or print"
    private static let locking =
        "for locks there is Mutex of the module Synchronization: write Mutex(state) and withLock where "
        + "OSAllocatedUnfairLock or os_unfair_lock was meant"

    /// What to do without a module: `os` has logging and locks.
    private func advice(on name: String, _ module: String) -> String {
        if let advice = Self.advice[name] ?? Self.advice[module] { return advice }
        guard module == "os" || module == "OSLog" else { return "" }
        let declaration = name.split(separator: ".").last.map { String($0) } ?? ""
        if FoundationNames.locks.contains(declaration) { return "; \(Self.locking)" }
        func uses(_ names: Set<String>) -> Bool {
            FoundationNames.firstUse(of: names, in: source, except: declarations.types) != nil
        }
        let locks = uses(FoundationNames.locks) ? [Self.locking] : []
        let logs = locks.isEmpty || uses(FoundationNames.logs) ? [Self.logging] : []
        return (logs + locks).map { "; " + $0 }.joined()
    }

    /// `Foundation.ValueTransformer`, which Foundation does not have here.
    mutating func requalifyNames() {
        var words = SourceWords(source)
        while let word = words.next() {
            guard word.text == "Foundation", !word.isMember,
                let name = FoundationNames.member(behind: word, source),
                let module = FoundationNames.module(of: name.text)
            else { continue }
            // Where the module has a type of this name itself, the other one is named by its module as before.
            let prefix = declarations.types.contains(name.text) ? "\(module)." : ""
            edits.replace(word.offset..<name.offset, with: prefix)
            report(change: word.offset, "Foundation.\(name.text) becomes \(prefix)\(name.text)")
        }
    }

    /// What Foundation has on Apple's platforms, and other modules of it here.
    mutating func importPartsOfFoundation() {
        let imports = tree.list("items").filter { $0.kind == "import_decl" && !$0.isImplicit }
        let foundation = imports.first { node in
            let path = node.fields["module_path"] as? [String] ?? []
            return path == ["Foundation"] || path.first == "CoreData"
        }
        guard let range = foundation?.range else { return }
        let start = source.bytes[..<range.start].lastIndex(of: SourceText.newline).map { $0 + 1 } ?? 0
        for (module, names) in FoundationNames.parts.sorted(by: { $0.key < $1.key }) {
            let text = String(decoding: source.bytes, as: UTF8.self)
            guard !text.contains("import \(module)"),
                let use = FoundationNames.firstUse(of: names, in: source, except: declarations.types)
            else { continue }
            edits.insert("#if canImport(\(module))\nimport \(module)\n#endif\n", at: start)
            report(change: use.offset, "\(use.name) is in a module of its own on Linux: import \(module)")
        }
    }

    /// What Foundation has on Apple's platforms, and Strata here.
    mutating func importWhatFoundationLacks() {
        let imports = tree.list("items").filter { $0.kind == "import_decl" && !$0.isImplicit }
        let modules = imports.map { ($0.fields["module_path"] as? [String])?.first ?? "" }
        let observer = observing.map { (name: "observing by a method", offset: $0) }
        guard !modules.contains(where: { ["CoreData", "Strata", "StrataSchema"].contains($0) }),
            let index = modules.firstIndex(of: "Foundation") ?? modules.indices.first, let range = imports[index].range,
            let use = FoundationNames.firstUse(in: source, except: declarations.types) ?? observer
        else { return }
        guard hasCoreData else {
            return report(
                remaining: use.offset,
                "\(use.name) is Strata's on Linux: let the target depend on the product CoreData, and import it")
        }
        let start = source.bytes[..<range.start].lastIndex(of: SourceText.newline).map { $0 + 1 } ?? 0
        // The compiler does not print how public an import is.
        let access = source.text(start..<range.start).split(separator: " ").filter { Self.accessLevels.contains($0) }
        edits.insert((access + ["import CoreData"]).joined(separator: " ") + "\n", at: start)
        report(change: use.offset, "\(use.name) is Strata's on Linux: import CoreData")
    }
}
