import Foundation
import OperationCore
import OperationMutation
import OperationPagination
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// What earlier and later versions of the library and of a program have stored: see `Tests/StoredFormats/README.md`.
@Suite(.bounded, .warningsAreIssues) struct StoredFormatTests {
  /// The files that today's code writes.
  private static let newest = (values: "values-1", calls: "calls-3", schedules: "schedules-1")

  private static func entries(of name: String) throws -> [StorageEntry] {
    try StoredFormats.entries(of: name).map { StorageEntry(key: $0.key, value: $0.value) }
  }

  // MARK: - Writing

  @Test(.enabled(if: ProcessInfo.processInfo.environment["WRITE_STORED_FORMATS"] != nil))
  func `Files of new formats are written`() async throws {
    let values = try await FormatProgram().writeValues()
    let calls = try await FormatProgram().writeCalls()
    let schedules = try await FormatProgram().writeSchedules()
    let files = [(Self.newest.values, values), (Self.newest.calls, calls), (Self.newest.schedules, schedules)]
    for (name, entries) in files {
      if (try? Self.entries(of: name)) != nil { continue }
      try StoredFormats.write(entries.map { StoredFormats.Entry(key: $0.key, value: $0.value) }, to: name)
    }
  }

  @Test func `Today's code writes the newest form of values`() async throws {
    let written = try await FormatProgram().writeValues()
    try Self.expectEqual(written, Self.entries(of: Self.newest.values))
  }

  @Test func `Today's code writes the newest form of calls`() async throws {
    let written = try await FormatProgram().writeCalls()
    // An expired call was added by hand.
    let kept = try Self.entries(of: Self.newest.calls).filter { !$0.key.hasSuffix("-expired") }
    Self.expectEqual(written, kept)
  }

  @Test func `Today's code writes the newest form of schedules`() async throws {
    let written = try await FormatProgram().writeSchedules()
    try Self.expectEqual(written, Self.entries(of: Self.newest.schedules))
  }

  private static func expectEqual(_ written: [StorageEntry], _ kept: [StorageEntry]) {
    expect(written.map(\.key), equals: kept.map(\.key))
    for (new, old) in zip(written, kept) { expect(Self.text(of: new), equals: Self.text(of: old), "\(new.key)") }
  }

  /// The text of an entry, with what its coder has turned round. What its run has seen of invalidations, which names the
  /// process, is left out.
  private static func text(of entry: StorageEntry) -> String {
    var entry = entry
    if let end = entry.value.firstIndex(of: UInt8(ascii: "\n")),
      let start = entry.value[..<end].firstIndex(of: UInt8(ascii: ";"))
    {
      entry = StorageEntry(key: entry.key, value: Array(entry.value[..<start] + entry.value[end...]))
    }
    guard let start = entry.value.firstIndex(of: 0xFF) else {
      return canonicalText(String(decoding: entry.value, as: UTF8.self))
    }
    let json = String(decoding: entry.value[(start + 1)...].reversed(), as: UTF8.self)
    return String(decoding: entry.value[..<start], as: UTF8.self) + canonicalText(json)
  }

  // MARK: - Reading

  @Test func `Values are restored, and those of a later version are kept`() async throws {
    let entries = try Self.entries(of: "values-1")
    let program = FormatProgram(entries)
    let plain = program.program.store(Script(), 1)
    expect(plain.currentValue, equals: "plain")
    expect(plain.state.valueLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 0))
    #expect(!plain.isStale)
    let invalidated = program.program.store(Script(), 2)
    expect(invalidated.currentValue, equals: "invalidated")
    #expect(invalidated.isStale)
    let later = expectWarning(.storedVersionUnknown) { program.program.store(Script(), 3) }
    expect(later.currentValue, equals: nil)
    later.currentValue = "of an older program"
    expect(program.bytes.currentValue, equals: FormatProgram.Text(id: 7))
    expect(program.pages.currentValue, equals: [Page(id: 0, value: "page 0"), Page(id: 1, value: "page 1")])
    expect(program.pages.state.valueLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 30.5))
    #expect(await program.program.client.persistence.flush())
    try await expect(program.program.storage.entries(withPrefix: "value/"), equals: entries)
    expect(FormatProgram(entries).program.store(Script(), 3, version: 4).currentValue, equals: "later")
  }

  @Test func `A value is found by its earlier name and migrated from its earlier version`() async throws {
    let program = FormatProgram(try Self.entries(of: "values-1")).program
    let query = OperationScript<Int, any Error>().query(path: ["text", 1])
      .persisted(
        as: "length",
        aliases: ["name", "text"],
        version: 5,
        migrate: { bytes, version in
          expect(version, equals: 1)
          return try JSONDecoder().decode(StoredValue<String>.self, from: Data(bytes)).map(\.count)
        }
      )
    expect(program.client.store(for: query).currentValue, equals: 5)
  }

  @Test(arguments: ["calls-1", "calls-2"]) func `Calls of earlier forms are made in order, by their earlier name`(
    file: String
  ) async throws {
    let program = FormatProgram(try Self.entries(of: file))
    let journal = await program.resume()
    expect(program.server.done, equals: ["a", "b"])
    expect(program.server.requests.map(\.key), equals: ["a", "b"])
    expect(journal.statuses, equals: [.deadLetter])
    expect(journal.texts, equals: ["c"])
    expect(journal.entries.map(\.attempts), equals: [5])
  }

  @Test func `Calls of today's form are made, and an expired one is kept`() async throws {
    let program = FormatProgram(try Self.entries(of: "calls-3"))
    let journal = await program.resume()
    expect(program.server.done.sorted(), equals: ["a", "b", "c"])
    expect(journal.statuses, equals: [.expired])
    expect(journal.texts, equals: ["d"])
  }

  @Test func `Attempts of calls with long arguments count, unless they are of another form of the entry`()
    async throws
  {
    let program = FormatProgram(try Self.entries(of: "attempts-1"))
    let journal = program.program.makeJournal()
    try await journal.load()
    expect(journal.entries.map(\.attempts), equals: [4, 2])
    expect(journal.texts.map(\.count), equals: [5_000, 5_000])
    await program.resume()
    expect(program.server.requests.map(\.key), equals: ["k1", "k2"])
    #expect(try await program.program.storage.entries(withPrefix: "").isEmpty)
  }

  @Test func `Scheduled calls are made at their times, and those that were accepted`() async throws {
    let program = FormatProgram(try Self.entries(of: "schedules-1"))
    let journal = await program.resume()
    expect(program.server.requests.map(\.key), equals: ["k1#0"])
    expect(journal.schedules.map(\.name), equals: ["once", "k3", "each / day"])
    for _ in 0..<10 {
      program.program.clock.advance(by: .seconds(10))
      await journal.settled()
    }
    expect(program.server.requests.map(\.text), equals: ["a", "b", "c", "a"])
    expect(program.server.requests.map(\.key), equals: ["k1#0", "k2", "k3", "k1#1"])
    expect(journal.schedules.map(\.missedTimes), equals: [.skip])
  }

  @Test func `What a later version of the library has stored is kept, and what it has added is passed over`()
    async throws
  {
    let entries = try Self.entries(of: "newer")
    let program = FormatProgram(entries)
    let store = expectWarning(.storedVersionUnknown) { program.program.store(Script(), 1) }
    expect(store.currentValue, equals: nil)
    store.currentValue = "of this version"
    #expect(await program.program.client.persistence.flush())
    let journal = await expectWarning(.journalEntryUnreadable) { await program.resume() }
    expect(journal.statuses, equals: [.unreadable])
    expect(program.server.done, equals: ["b"])
    try await expect(program.program.storage.entries(withPrefix: ""), equals: [entries[1], entries[0]])
  }
}
