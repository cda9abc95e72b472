import BenchSupport
import Foundation
public import OO7Load
import Strata

extension OO7Objects {
    public func traverse(_ update: OO7Update?) throws -> UInt64 {
        try inContext { context in
            var sum: UInt64 = 0
            var visited = PartIDSet()
            try forEachComposite { composite in
                guard let root = composite.rootPart else { return }
                visited.removeAll()
                sum &+= Self.visit(root, update, isRoot: true, &visited)
            }
            if update != nil { try context.save() }
            return sum
        }
    }

    private static func visit(
        _ part: AtomicPart, _ update: OO7Update?, isRoot: Bool, _ visited: inout PartIDSet
    ) -> UInt64 {
        guard visited.insert(part.id) else { return 0 }
        var sum = part.digest
        if let update { change(part, update, isRoot: isRoot) }
        for connection in part.to {
            sum &+= UInt64(connection.length)
            if let next = connection.to { sum &+= visit(next, update, isRoot: false, &visited) }
        }
        return sum
    }

    private static func change(_ part: AtomicPart, _ update: OO7Update, isRoot: Bool) {
        for _ in 0..<update.count(isRoot: isRoot) {
            switch update.field {
            case .position: (part.x, part.y) = (part.y, part.x)
            case .buildDate: part.buildDate = OO7Update.toggled(part.buildDate)
            }
        }
    }

    public func traverseRoots() throws -> UInt64 {
        try inContext { _ in
            var sum: UInt64 = 0
            try forEachComposite { sum &+= $0.rootPart?.digest ?? 0 }
            return sum
        }
    }

    public func countInDocuments() throws -> UInt64 {
        try inContext { _ in
            var count: UInt64 = 0
            try forEachComposite { composite in
                if let document = composite.documentation { count += countWanted(in: document.text) }
            }
            return count
        }
    }

    public func replaceInDocuments(_ old: String, with new: String) throws -> UInt64 {
        try inContext { context in
            var count: UInt64 = 0
            try forEachComposite { composite in
                guard let document = composite.documentation, document.text.hasPrefix(old) else { return }
                document.text = new + document.text.dropFirst(old.count)
                count += 1
            }
            try context.save()
            return count
        }
    }

    public func climb(from part: Int64) throws -> UInt64 {
        try inContext { context in
            let request = NSFetchRequest<AtomicPart>(entityName: "AtomicPart")
            request.predicate = NSPredicate(format: "id == %@", NSNumber(value: part))
            request.fetchLimit = 1
            var sum: UInt64 = 0
            for user in try context.fetch(request).first?.partOf?.usedIn ?? [] {
                var assembly: Assembly? = user
                while let current = assembly {
                    sum &+= current.digest
                    assembly = current.superAssembly
                }
            }
            return sum
        }
    }

    public func countInManual() throws -> UInt64 {
        try inContext { _ in countWanted(in: try module().manual?.text ?? "") }
    }

    public func compareEndsOfManual() throws -> UInt64 {
        try inContext { _ in
            let text = (try module().manual?.text ?? "").utf8
            return text.first == text.last ? 1 : 0
        }
    }

    /// Goes down from the root of the design: each composite part as often as it is used.
    private func forEachComposite(_ visit: (CompositePart) throws -> Void) throws {
        guard let root = try module().designRoot else { throw BenchFailure("the design has no root") }
        try Self.forEachComposite(under: root, visit)
    }

    private static func forEachComposite(
        under assembly: Assembly, _ visit: (CompositePart) throws -> Void
    ) rethrows {
        if let base = assembly as? BaseAssembly {
            for composite in base.components { try visit(composite) }
        } else if let complex = assembly as? ComplexAssembly {
            for assembly in complex.subAssemblies { try forEachComposite(under: assembly, visit) }
        }
    }
}

extension AtomicPart {
    var digest: UInt64 { partDigest(id: id, x: x, y: y, buildDate: buildDate) }
}

extension Assembly {
    var digest: UInt64 { assemblyDigest(id: id, buildDate: buildDate) }
}
