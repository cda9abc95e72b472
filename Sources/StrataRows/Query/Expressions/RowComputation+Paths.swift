import StrataLog

// What lies behind to-one relationships.
extension RowComputation {
    func gather(_ path: RowPath) throws(StoreError) -> ComputedColumn {
        let references = try part.column(path.slot)
        guard let table = try evaluator.tables?.table(of: path, forRows: rows.count) else {
            return try lookUp(path, references)
        }
        let view = table.view
        let kind = path.rest.kind
        switch kind.valueKind.fixedWidth {
        case 1: return try gather(kind, UInt8.self, references, table)
        case 2: return try gather(kind, UInt16.self, references, table)
        case 4: return try gather(kind, UInt32.self, references, table)
        case 8: return try gather(kind, UInt64.self, references, table)
        default:
            return try appending(kind) { row, builder in
                guard let found = Self.row(references, row, table), !view.isNull(found) else { return nil }
                return builder.append(view, found..<found + 1)
            }
        }
    }

    /// The row in a table of the object that a row refers to; nil where there is none.
    @inline(__always)
    private static func row(_ references: ColumnView, _ row: Int, _ table: PathTable) -> Int? {
        let ref = references.reference(row)
        return ref.isNull ? nil : table.row(ref.key)
    }

    @inline(__always)
    private func gather<Value: BitwiseCopyable & FixedWidthInteger>(
        _ kind: SlotKind, _: Value.Type, _ references: ColumnView, _ table: PathTable
    ) throws(StoreError) -> ComputedColumn {
        let view = table.view
        let values = view.values.assumingMemoryBound(to: Value.self)
        return try fill(kind, Value.self) { row in
            guard let found = Self.row(references, row, table) else { return (0, .null) }
            return (values[found], view.isNull(found) ? .null : .value)
        }
    }

    // MARK: One by one

    /// For few rows of many: each row's object is looked up.
    private func lookUp(_ path: RowPath, _ references: ColumnView) throws(StoreError) -> ComputedColumn {
        var rest = path.rest
        var steps: [RowPath] = [path]
        while case .path(let next) = rest {
            steps.append(next)
            rest = next.rest
        }
        var follower = PathFollower(steps, evaluator.handle.map, evaluator.snapshot)
        if case .members(let members) = rest {
            return try aggregate(members) { row throws(StoreError) in
                try follower.end(from: references.reference(row))?.ref
            }
        }
        if case .key = rest {
            return try fill(.int64, Int64.self) { row throws(StoreError) in
                guard let found = try follower.end(from: references.reference(row)) else { return (0, .null) }
                return (Int64(found.ref.key), .value)
            }
        }
        guard case .slot(let slot, let kind) = rest else { preconditionFailure("no path to a slot or to members") }
        switch kind.valueKind.fixedWidth {
        case 1: return try lookUp(kind, UInt8.self, slot, references, &follower)
        case 2: return try lookUp(kind, UInt16.self, slot, references, &follower)
        case 4: return try lookUp(kind, UInt32.self, slot, references, &follower)
        case 8: return try lookUp(kind, UInt64.self, slot, references, &follower)
        default: break
        }
        return try appending(kind) { row, builder throws(StoreError) in
            guard let found = try follower.end(from: references.reference(row)) else { return nil }
            let column = try found.block.column(slot)
            if column.isNull(found.index) { return nil }
            if column.isExternal(found.index) {
                return builder.append(try bytes(column, found.index))
            }
            return builder.append(column, found.index..<found.index + 1)
        }
    }

    private func lookUp<Value: BitwiseCopyable & FixedWidthInteger>(
        _ kind: SlotKind, _: Value.Type, _ slot: Int, _ references: ColumnView, _ follower: inout PathFollower
    ) throws(StoreError) -> ComputedColumn {
        try fill(kind, Value.self) { row throws(StoreError) in
            guard let found = try follower.end(from: references.reference(row)) else { return (0, .null) }
            let column = try found.block.column(slot)
            defer { withExtendedLifetime(found) {} }
            if column.isNull(found.index) { return (0, .null) }
            guard column.kind == kind.valueKind else { return (0, .exceptional) }
            return (column.values.assumingMemoryBound(to: Value.self)[found.index], .value)
        }
    }
}
