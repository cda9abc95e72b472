import Foundation

/// Where a program's models may lie.
package enum ModelBundles {
    /// The main bundle, and the bundles that SwiftPM makes for the resources of targets: beside the program.
    package static var program: [Bundle] {
        let beside = Bundle.main.bundleURL
        let names = (try? FileManager.default.contentsOfDirectory(atPath: beside.path)) ?? []
        let resources = names.filter { $0.hasSuffix(".resources") || $0.hasSuffix(".bundle") }.sorted()
        return [.main] + resources.compactMap { Bundle(path: beside.appendingPathComponent($0).path) }
    }

    /// As ``program``, with the other bundles that have been loaded.
    package static var all: [Bundle] {
        var seen: Set<String> = []
        return (program + Bundle.allBundles).filter { seen.insert($0.bundlePath).inserted }
    }

    /// The model of a name, or a directory of its versions, in the first bundle that has one that can be read.
    package static func model(named name: String) -> NSManagedObjectModel? {
        for bundle in all {
            for type in ["momd", "mom"] {
                guard let url = bundle.url(forResource: name, withExtension: type) else { continue }
                if let model = NSManagedObjectModel(contentsOf: url) { return model }
            }
        }
        return nil
    }
}
