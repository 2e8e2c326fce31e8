#if SwiftOperationValkey && os(Linux)
  import TestFixtures
  import Testing

  @testable import OperationValkey

  @Suite(.bounded) struct ReplyReaderTests {
    private static let samples: [(String, Reply)] = [
      ("+OK\r\n", .bytes(Array("OK".utf8))),
      ("+\r\n", .bytes([])),
      ("-ERR no\r\n", .error("ERR no")),
      (":-12\r\n", .integer(-12)),
      (":9223372036854775807\r\n", .integer(.max)),
      ("$3\r\na\r\n\r\n", .bytes(Array("a\r\n".utf8))),
      ("$0\r\n\r\n", .bytes([])),
      ("$-1\r\n", .null),
      ("*-1\r\n", .null),
      ("_\r\n", .null),
      ("#t\r\n", .integer(1)),
      ("#f\r\n", .integer(0)),
      (",1.5\r\n", .bytes(Array("1.5".utf8))),
      ("(12345678901234567890123\r\n", .bytes(Array("12345678901234567890123".utf8))),
      ("!5\r\nERR x\r\n", .error("ERR x")),
      ("=5\r\ntxt:a\r\n", .bytes(Array("txt:a".utf8))),
      ("*0\r\n", .array([])),
      ("*2\r\n:1\r\n*2\r\n$1\r\na\r\n_\r\n", .array([.integer(1), .array([.bytes([97]), .null])])),
      ("*2\r\n*0\r\n:1\r\n", .array([.array([]), .integer(1)])),
      ("~1\r\n:1\r\n", .array([.integer(1)])),
      ("%1\r\n+a\r\n:1\r\n", .array([.bytes([97]), .integer(1)])),
      (">2\r\n+message\r\n:1\r\n", .push([.bytes(Array("message".utf8)), .integer(1)])),
      ("|1\r\n+key\r\n:1\r\n:2\r\n", .integer(2)),
      ("*2\r\n|1\r\n+key\r\n:1\r\n:2\r\n:3\r\n", .array([.integer(2), .integer(3)])),
    ]

    @Test func `Replies of each kind are read, in pieces of any size`() throws {
      let bytes = Self.samples.flatMap { Array($0.0.utf8) }
      for size in [1, 2, 3, 7, 64, bytes.count] {
        var reader = ReplyReader()
        var replies: [Reply] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
          reader.append(bytes[start..<min(start + size, bytes.count)])
          while let reply = try reader.next() { replies.append(reply) }
        }
        expect(replies, equals: Self.samples.map(\.1), "\(size)")
        expect(reader.bufferedCount, equals: 0)
      }
    }

    @Test(arguments: [
      "x\r\n", "\r\n", "$x\r\n", "$\r\n", "$-2\r\n", "*-2\r\n", ":\r\n", ":1x\r\n", ":99999999999999999999\r\n",
      "$000000000000000000000005\r\n", "+a\n", "$1\r\nabc\r\n", "$1\r\na\n\n", "*1\r\n?\r\n", "$101\r\n", "*65\r\n",
      "%33\r\n",
      "*1\r\n*1\r\n*1\r\n*1\r\n", "*2\r\n$60\r\n\(String(repeating: "a", count: 60))\r\n$60\r\n",
      "*2\r\n*40\r\n\(String(repeating: ":1\r\n", count: 40))*40\r\n\(String(repeating: ":1\r\n", count: 40))",
      "+\(String(repeating: "a", count: 40))\r\n", "+\(String(repeating: "a", count: 40))",
    ])
    func `A reply that is damaged or too large is an error`(text: String) {
      let limits = ReplyReader.Limits(line: 32, string: 100, bytes: 100, elements: 64, depth: 3)
      #expect(throws: ReplyError.self) {
        var reader = ReplyReader(limits: limits)
        reader.append(text.utf8)
        while try reader.next() != nil {}
      }
    }

    @Test func `A length that is announced costs nothing until its bytes arrive`() throws {
      var reader = ReplyReader()
      // A million elements, and half of a gigabyte.
      reader.append("*1000000\r\n$536870000\r\n".utf8)
      try expect(reader.next(), equals: nil)
      expect(reader.bufferedCount, equals: 0)
      reader.append([UInt8](repeating: 1, count: 1_000))
      try expect(reader.next(), equals: nil)
      expect(reader.bufferedCount, equals: 1_000)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `Damaged bytes are replies or an error, and never keep more than has arrived`(seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      var bytes = Self.samples.shuffled(using: &random).flatMap { Array($0.0.utf8) }
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        default: bytes.insert(UInt8(ascii: "9"), at: place)
        }
      }
      var reader = ReplyReader()
      var rest = bytes[...]
      do throws(ReplyError) {
        while !rest.isEmpty {
          let piece = rest.prefix(Int.random(in: 1...20, using: &random))
          rest = rest.dropFirst(piece.count)
          reader.append(piece)
          while try reader.next() != nil {}
          #expect(reader.bufferedCount <= bytes.count)
        }
      } catch {
        #expect(!error.reason.isEmpty)
      }
    }

    @Test func `A request is an array of strings with their lengths in bytes`() {
      var request = Request("SET", "ä")
      request.append([0, 13, 10] as [UInt8])
      request.append(-7)
      let expected = "*4\r\n$3\r\nSET\r\n$2\r\nä\r\n$3\r\n\0\r\n\r\n$2\r\n-7\r\n"
      expect(request.encoded, equals: Array(expected.utf8))
    }
  }
#endif
