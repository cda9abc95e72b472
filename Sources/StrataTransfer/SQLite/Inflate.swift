/// Decompresses raw deflate (RFC 1951), in which stores keep their models.
///
/// Small inputs only, so it is simple rather than fast: codes are read bit by bit.
struct Inflate {
    private let input: [UInt8]
    private var position = 0
    private var bitBuffer: UInt32 = 0
    private var bitCount = 0
    private var output: [UInt8] = []
    private let maximumByteCount: Int

    /// - Parameter maximumByteCount: what becomes longer is refused.
    /// - Throws: ``TransferError`` for anything that is no sound deflate stream.
    static func decompress(_ input: [UInt8], maximumByteCount: Int = 64 << 20) throws(TransferError) -> [UInt8] {
        var inflate = Inflate(input, maximumByteCount)
        try inflate.run()
        return inflate.output
    }

    private init(_ input: [UInt8], _ maximumByteCount: Int) {
        self.input = input
        self.maximumByteCount = maximumByteCount
    }

    private static let damaged = TransferError("the compressed model is damaged")

    private mutating func bits(_ count: Int) throws(TransferError) -> Int {
        while bitCount < count {
            guard position < input.count else { throw Self.damaged }
            bitBuffer |= UInt32(input[position]) << UInt32(bitCount)
            position += 1
            bitCount += 8
        }
        let value = bitBuffer & (UInt32(1) << UInt32(count) - 1)
        bitBuffer >>= UInt32(count)
        bitCount -= count
        return Int(value)
    }

    private mutating func run() throws(TransferError) {
        var isLast = false
        while !isLast {
            isLast = try bits(1) == 1
            switch try bits(2) {
            case 0: try stored()
            case 1: try codes(literals: Self.fixedLiterals, distances: Self.fixedDistances)
            case 2:
                let (literals, distances) = try tables()
                try codes(literals: literals, distances: distances)
            default: throw Self.damaged
            }
        }
    }

    private mutating func stored() throws(TransferError) {
        bitBuffer = 0
        bitCount = 0
        guard position + 4 <= input.count else { throw Self.damaged }
        let count = Int(input[position]) | Int(input[position + 1]) << 8
        let check = Int(input[position + 2]) | Int(input[position + 3]) << 8
        position += 4
        guard count == ~check & 0xFFFF, position + count <= input.count, output.count + count <= maximumByteCount
        else { throw Self.damaged }
        output += input[position..<position + count]
        position += count
    }

    // MARK: Huffman codes

    /// A canonical code: how many codes there are of each length, and the symbols in their order.
    private struct Code {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int] = []

        /// Nil when the lengths are of no code.
        init?(_ lengths: [Int]) {
            for length in lengths { counts[length] += 1 }
            var left = 1
            for length in 1..<16 {
                left = left << 1 - counts[length]
                if left < 0 { return nil }
            }
            var offsets = [Int](repeating: 0, count: 16)
            for length in 1..<15 { offsets[length + 1] = offsets[length] + counts[length] }
            symbols = [Int](repeating: 0, count: lengths.count)
            for (symbol, length) in lengths.enumerated() where length != 0 {
                symbols[offsets[length]] = symbol
                offsets[length] += 1
            }
        }
    }

    private static let fixedLiterals = Code(
        (0..<288).map { $0 < 144 ? 8 : ($0 < 256 ? 9 : ($0 < 280 ? 7 : 8)) })
    private static let fixedDistances = Code([Int](repeating: 5, count: 30))

    private mutating func symbol(_ code: Code?) throws(TransferError) -> Int {
        guard let code else { throw Self.damaged }
        var value = 0
        var first = 0
        var index = 0
        for length in 1..<16 {
            value |= try bits(1)
            let count = code.counts[length]
            if value - count < first { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw Self.damaged
    }

    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    private mutating func tables() throws(TransferError) -> (Code?, Code?) {
        let literalCount = try bits(5) + 257
        let distanceCount = try bits(5) + 1
        let lengthCount = try bits(4) + 4
        guard literalCount <= 286, distanceCount <= 30 else { throw Self.damaged }
        var lengths = [Int](repeating: 0, count: 19)
        for index in 0..<lengthCount { lengths[Self.order[index]] = try bits(3) }
        let code = Code(lengths)
        lengths = []
        while lengths.count < literalCount + distanceCount {
            let symbol = try symbol(code)
            switch symbol {
            case 0..<16: lengths.append(symbol)
            case 16:
                guard let last = lengths.last else { throw Self.damaged }
                lengths += [Int](repeating: last, count: 3 + (try bits(2)))
            case 17: lengths += [Int](repeating: 0, count: 3 + (try bits(3)))
            default: lengths += [Int](repeating: 0, count: 11 + (try bits(7)))
            }
        }
        guard lengths.count == literalCount + distanceCount, lengths[256] != 0 else { throw Self.damaged }
        return (Code(Array(lengths.prefix(literalCount))), Code(Array(lengths.suffix(distanceCount))))
    }

    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145,
        8193, 12289, 16385, 24577,
    ]

    private mutating func codes(literals: Code?, distances: Code?) throws(TransferError) {
        while true {
            let symbol = try symbol(literals)
            if symbol == 256 { return }
            guard symbol > 256 else {
                guard output.count < maximumByteCount else { throw Self.damaged }
                output.append(UInt8(symbol))
                continue
            }
            guard symbol - 257 < Self.lengthBases.count else { throw Self.damaged }
            let count = Self.lengthBases[symbol - 257] + (try bits(Self.lengthBits[symbol - 257]))
            let code = try self.symbol(distances)
            guard code < Self.distanceBases.count else { throw Self.damaged }
            let distance = Self.distanceBases[code] + (try bits(code < 4 ? 0 : code / 2 - 1))
            guard distance <= output.count, output.count + count <= maximumByteCount else { throw Self.damaged }
            for _ in 0..<count { output.append(output[output.count - distance]) }
        }
    }
}
