/// The body of a compaction record: what is true of the store at its place in the log, said again so that older
/// segments can go.
///
/// | what | encoding |
/// |---|---|
/// | blocks | as in a transaction: role 1 rows, role 2 preserved values |
/// | large values | as in a transaction |
/// | age | number of the transaction that wrote the rows, on average (8 bytes) |
/// | for each block of rows | entity (2), count of rows (4), lowest and highest key (8 each), count of excluded rows (4), their numbers as an integer column |
/// | absent keys | count of groups (4), then for each: entity (2), count (4), integer column |
/// | archived transactions | count (4), then for each: sequence number (8), time (8), author and context name (strings), change groups as in a transaction |
struct CompactionBody {
    struct RowTable {
        var entity: UInt16
        var rowCount: Int
        var keys: ClosedRange<UInt64>
        /// Numbers of rows that were replaced or deleted while the record was being made, ascending.
        var excluded: [UInt64] = []
    }

    struct AbsentKeys {
        var entity: UInt16
        var keys: IntegerList
    }

    struct ArchivedTransaction {
        var sequence: UInt64
        var timestampNanoseconds: Int64
        var author: String?
        var contextName: String?
        var changes: [TransactionBody.ChangeRecord]
    }

    var blocks: [TransactionBody.Piece] = []
    var largeValueByteCounts: [Int] = []
    var ageSequence: UInt64 = 0
    /// Parallel to the blocks of role `.updated`.
    var rows: [RowTable] = []
    var absent: [AbsentKeys] = []
    /// With numbers that count up.
    var transactions: [ArchivedTransaction] = []

    func encoded() -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: 1024)
        writer.append(UInt32(blocks.count))
        for block in blocks {
            writer.append(block.role.rawValue << 30 | UInt32(block.byteCount / Location.alignmentBytes))
        }
        writer.append(UInt32(largeValueByteCounts.count))
        for byteCount in largeValueByteCounts { writer.append(UInt32(byteCount / Location.alignmentBytes)) }
        writer.append(ageSequence)
        for table in rows {
            writer.append(table.entity)
            writer.append(UInt32(table.rowCount))
            writer.append(table.keys.lowerBound)
            writer.append(table.keys.upperBound)
            writer.append(UInt32(table.excluded.count))
            IntegerColumn.append(table.excluded, to: &writer)
        }
        writer.append(UInt32(absent.count))
        for group in absent {
            writer.append(group.entity)
            writer.append(UInt32(group.keys.count))
            IntegerColumn.append(group.keys, to: &writer)
        }
        writer.append(UInt32(transactions.count))
        for transaction in transactions {
            writer.append(transaction.sequence)
            writer.append(transaction.timestampNanoseconds)
            writer.append(string: transaction.author)
            writer.append(string: transaction.contextName)
            writer.append(UInt32(transaction.changes.count))
            for change in transaction.changes { TransactionBodyWriter.append(change, to: &writer) }
        }
        return writer.bytes
    }

    init() {}

    init(_ bytes: UnsafeRawBufferPointer) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        for _ in 0..<(try reader.readCount(minimumByteCount: 4)) {
            let word = try reader.read(UInt32.self)
            guard let role = TransactionBody.BlockRole(rawValue: word >> 30), role != .inserted else {
                throw reader.malformed("block role")
            }
            blocks.append(.init(role: role, byteCount: Int(word & 0x3FFF_FFFF) * Location.alignmentBytes))
        }
        for _ in 0..<(try reader.readCount(minimumByteCount: 4)) {
            largeValueByteCounts.append(Int(try reader.read(UInt32.self)) * Location.alignmentBytes)
        }
        ageSequence = try reader.read()
        guard ageSequence <= RecordHeader.maximumSequence else { throw reader.malformed("age") }
        for block in blocks where block.role == .updated { rows.append(try Self.readRows(&reader)) }
        var room = TransactionBody.maximumCount
        for _ in 0..<(try reader.readCount(minimumByteCount: 6)) {
            absent.append(try Self.readAbsent(&reader, &room))
        }
        var bounds = ChangeBounds()
        for _ in 0..<(try reader.readCount(minimumByteCount: 28)) {
            let transaction = try Self.readTransaction(&reader, blockCount: blocks.count, &bounds)
            guard transaction.sequence == transactions.last.map({ $0.sequence + 1 }) ?? transaction.sequence else {
                throw reader.malformed("archived transactions out of order")
            }
            transactions.append(transaction)
        }
    }

    private static func readRows(_ reader: inout ByteReader) throws(MalformedBytes) -> RowTable {
        let entity = try reader.read(UInt16.self)
        let rowCount = Int(try reader.read(UInt32.self))
        let low = try reader.read(UInt64.self)
        let high = try reader.read(UInt64.self)
        let count = Int(try reader.read(UInt32.self))
        guard rowCount > 0, rowCount <= BlockFormat.rowsMaximum, count <= rowCount, low > 0, low <= high,
            high <= ObjectRef.maximumKey
        else { throw reader.malformed("table of \(rowCount) rows") }
        let excluded = Array(try IntegerColumn.read(count: count, from: &reader))
        guard excluded.allSatisfy({ $0 < UInt64(rowCount) }),
            zip(excluded, excluded.dropFirst()).allSatisfy({ $0 < $1 })
        else { throw reader.malformed("excluded rows") }
        return RowTable(entity: entity, rowCount: rowCount, keys: low...high, excluded: excluded)
    }

    private static func readAbsent(
        _ reader: inout ByteReader, _ room: inout Int
    ) throws(MalformedBytes) -> AbsentKeys {
        let entity = try reader.read(UInt16.self)
        let count = Int(try reader.read(UInt32.self))
        guard count <= room else { throw reader.malformed("\(count) absent keys") }
        room -= count
        // A deletion and its repetition by an earlier compaction may lie in one victim: a key may be there twice.
        let keys = try TransactionBody.readKeys(count, &reader)
        return AbsentKeys(entity: entity, keys: keys.isRepetition ? keys.part(0..<1) : keys)
    }

    private static func readTransaction(
        _ reader: inout ByteReader, blockCount: Int, _ bounds: inout ChangeBounds
    ) throws(MalformedBytes) -> ArchivedTransaction {
        let sequence = try reader.read(UInt64.self)
        guard sequence > 0, sequence <= RecordHeader.maximumSequence else {
            throw reader.malformed("sequence number")
        }
        var transaction = ArchivedTransaction(
            sequence: sequence, timestampNanoseconds: try reader.read(), author: try reader.readString(),
            contextName: try reader.readString(), changes: [])
        for _ in 0..<(try reader.readCount(minimumByteCount: 7)) {
            transaction.changes.append(
                try TransactionBody.readChange(&reader, blockCount: blockCount, &bounds))
        }
        return transaction
    }
}
