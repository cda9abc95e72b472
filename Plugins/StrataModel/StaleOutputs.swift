import Foundation

/// What the plugin has compiled of models that the target has no more, or excludes by now. SwiftPM would leave it in
/// the target's bundle, where programs look for models.
///
/// A test compiles this file, too, which therefore needs nothing but Foundation.
struct StaleOutputs {
    /// Where the plugin writes for one target: "plugins/outputs/PACKAGE/TARGET/destination/StrataModel" below the build
    /// folder.
    let work: URL
    /// The target's bundle without its extension: "PACKAGE_TARGET".
    let bundle: String
    /// The models and the mapping models that the target has.
    let models: [URL]
    let mappings: [URL]

    /// Removes it from the bundles, and then from where the plugin wrote it: only what lies there is the plugin's, so
    /// that what could not be removed from a bundle is found again.
    func remove() {
        let files = FileManager.default
        for name in names {
            let copies = bundles.map { $0.appendingPathComponent(name) }
            for copy in copies { try? files.removeItem(at: copy) }
            if copies.contains(where: { files.fileExists(atPath: $0.path) }) { continue }
            try? files.removeItem(at: work.appendingPathComponent(name))
        }
    }

    /// The names of what is stale.
    private var names: [String] {
        func outputs(_ files: [URL], _ suffix: String) -> [String] {
            files.map { $0.deletingPathExtension().lastPathComponent + suffix }
        }
        let current = Set(
            outputs(models, ".momd") + outputs(models, "+CoreDataModel.swift") + outputs(mappings, ".cdm"))
        return Self.contents(work).map(\.lastPathComponent).filter { name in
            [".momd", ".cdm", "+CoreDataModel.swift"].contains { name.hasSuffix($0) } && !current.contains(name)
        }
    }

    /// The target's bundles in the build folder, of every platform and configuration.
    private var bundles: [URL] {
        var build = work
        while build.lastPathComponent != "plugins", build.path.count > 1 { build.deleteLastPathComponent() }
        let configurations = Self.contents(build.deletingLastPathComponent()).flatMap(Self.contents)
        return configurations.flatMap(Self.contents).filter { url in
            ["resources", "bundle"].contains(url.pathExtension)
                && url.deletingPathExtension().lastPathComponent == bundle
        }
    }

    private static func contents(_ directory: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.map { directory.appendingPathComponent($0) }
    }
}
