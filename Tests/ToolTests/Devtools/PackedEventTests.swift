#if SwiftOperationDevtools
  import Foundation
  import OperationCore
  import OperationEvents
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationDevtools

  /// The compact form of events in recordings, read as the page reads it.
  @Suite(.bounded) struct PackedEventTests {
    private struct Packed: Decodable {
      let clear: Bool?
      let strings: [String]?
      let base: [Int]
      let log: [[Double]]
    }

    private struct Plain: Decodable {
      let number: Int
      let store: Int
      let path: [String]
      let operation: String
      let kind: String
      let cause: String?
      let causeText: String?
      let run: String?
      let text: String
      let date: Double
      let outcome: String?
      let reason: String?
      let by: String?
    }

    private let client = OperationClient(storeCreator: OperationClient.PlainStoreCreator())

    /// Events of runs that succeed and fail, and of invalidations.
    private func events(_ count: Int) async -> [OperationEvent] {
      let events = self.client.events(keeping: 1_000_000)
      for number in 0..<count {
        let query = QueryOperation<Int, any Error>("posts", number % 7, operationName: "GetPost") { _, _ in
          if number.isMultiple(of: 5) { throw Refused(code: number) }
          return number
        }
        let store = self.client.store(for: query)
        _ = try? await store.fetch()
        if number.isMultiple(of: 11) { self.client.invalidate(matching: ["posts"], by: "AddPost", isolation: nil) }
      }
      return events.takeAll()
    }

    /// The events of a message in the compact form, as the page makes them.
    private func unpack(_ json: String, _ strings: inout [String]) throws -> [Plain] {
      let packed = try JSONDecoder().decode(Packed.self, from: Data(json.utf8))
      if packed.clear == true { strings = [] }
      strings += packed.strings ?? []
      var (number, time) = (packed.base[0], packed.base[1])
      return try packed.log.map { entry in
        var place = 8
        func next() -> String {
          let parts = strings[Int(entry[place])].split(separator: "\u{1}", omittingEmptySubsequences: false)
          place += 1
          return parts.dropFirst().reduce(into: String(parts[0])) { text, part in
            let value = entry[place]
            text += value == value.rounded() ? "\(Int(value))" : "\(value)"
            text += part
            place += 1
          }
        }
        number += Int(entry[0])
        time += Int(entry[1])
        var members = [
          "\"number\":\(number)", "\"date\":\(Double(time) / 1e6)", "\"store\":\(Int(entry[2]))",
          "\"path\":\(strings[Int(entry[3])])",
        ]
        func add(_ name: String, _ text: String) throws {
          members.append("\"\(name)\":\(String(decoding: try JSONEncoder().encode(text), as: UTF8.self))")
        }
        try add("operation", strings[Int(entry[4])])
        try add("kind", strings[Int(entry[5])])
        if entry[6] > 0 {
          let cause = try JSONDecoder().decode([String].self, from: Data(strings[Int(entry[6]) - 1].utf8))
          try add("cause", cause[0])
          try add("causeText", cause[1])
        }
        if entry[7] > 0 { try add("run", "#\(Int(entry[7]))") }
        try add("text", next())
        let more = next()
        if !more.isEmpty { members.append(more) }
        expect(place, equals: entry.count)
        return try JSONDecoder().decode(Plain.self, from: Data("{\(members.joined(separator: ","))}".utf8))
      }
    }

    @Test func `The compact form has what the page shows, in less than a hundred bytes for each event`() async throws {
      let events = await self.events(2_000)
      #expect(events.count > 4_000)
      var (packer, strings) = (EventPacker(), [String]())
      var (bytes, unpacked) = (0, [Plain]())
      for start in stride(from: 0, to: events.count, by: 500) {
        let part = events[start..<min(start + 500, events.count)]
        let json = JSONText.object { json in packer.write(part, to: &json) { $0.count } }
        bytes += json.utf8.count
        unpacked += try self.unpack(json, &strings)
      }
      let plain = try events.map { event in
        let json = JSONText.object { json in
          json.key("event")
          json.value(event, store: event.path.count)
        }
        return try JSONDecoder().decode([String: Plain].self, from: Data(json.utf8))["event"]
      }
      expect(unpacked.count, equals: plain.count)
      for case (let packed, let plain?) in zip(unpacked, plain) {
        #expect(packed.number == plain.number && packed.store == plain.store && packed.path == plain.path)
        #expect(packed.kind == plain.kind && packed.text == plain.text && packed.operation == plain.operation)
        #expect(packed.cause == plain.cause && packed.causeText == plain.causeText && packed.run == plain.run)
        #expect(packed.outcome == plain.outcome && packed.reason == plain.reason && packed.by == plain.by)
        #expect(abs(packed.date - plain.date) < 1e-5)
      }
      #expect(bytes / events.count < 100, "\(bytes / events.count) bytes")
    }

    @Test func `A text with the placeholder loses it, and numbers of another form stay in the text`() async throws {
      let events = self.client.events(keeping: 100)
      let texts = ["a\u{1}b 5", "007 and 1.50 and 0.0000001", "1.2.3 and 12345678901234567890"]
      for text in texts {
        let query = QueryOperation<Int, any Error>("odd", text) { _, _ in throw TextError(description: text) }
        _ = try? await self.client.store(for: query).fetch()
      }
      let all = events.takeAll()
      var (packer, strings) = (EventPacker(), [String]())
      let json = JSONText.object { json in packer.write(all, to: &json) { _ in 1 } }
      let unpacked = try self.unpack(json, &strings)
      let ends = unpacked.filter { $0.kind == "run.ended" }.map(\.text)
      expect(ends.count, equals: texts.count)
      for (end, text) in zip(ends, texts) { #expect(end.contains(text.filter { $0 != "\u{1}" })) }
    }
  }

  private struct TextError: Error, CustomStringConvertible {
    let description: String
  }
#endif
