import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Writes, reads, restarts and removes at random, and compares what is stored with a list in the order of the uses.
@Suite(.bounded, .warningsAreIssues) struct StorageLimitModelTests {
  @Test(arguments: ModelRuns.seeds) func `The values that were used last are stored, within the limits`(
    seed: UInt64
  ) async throws {
    await ModelRuns.check(4, seed: seed) { random in await self.difference(&random) }
  }

  private func difference(_ random: inout SeededGenerator) async -> String? {
    let (clock, base) = (ManualClock(), InMemoryStorage())
    let maximumRows = Int.random(in: 1...6, using: &random)
    let maximumBytes = Int.random(in: 250...900, using: &random)
    let limits = StorageLimits(maximumBytes: maximumBytes, maximumRows: maximumRows)
    func start() -> Program {
      let program = Program(TestStorage(base), clock: clock)
      program.client.persistence.limits = limits
      return program
    }
    var program = start()
    // The stored values with their bytes, the one that was used last at the end.
    var model: [(number: Int, text: String)] = []
    var sizes: [Int: Int] = [:]
    for step in 0..<40 {
      clock.advance(by: .seconds(61))
      let number = Int.random(in: 0..<9, using: &random)
      var written: [(Int, String)] = []
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        // In the order of their keys, in which they are after a restart, because they have the same time.
        var numbers: Set<Int> = [number]
        for _ in 0..<2 where Bool.random(using: &random) { numbers.insert(Int.random(in: 0..<9, using: &random)) }
        for number in numbers.sorted() {
          let text = "\(step)" + String(repeating: "x", count: Int.random(in: 0...60, using: &random))
          program.store(Script(), number).currentValue = text
          written.append((number, text))
        }
      case 5..<7:
        // A store that exists does not read again.
        program = start()
        let value = program.store(Script(), number).currentValue
        let expected = model.first { $0.number == number }?.text
        if value != expected { return "step \(step): \(number) is \(value ?? "nil"), not \(expected ?? "nil")" }
        if let index = model.firstIndex(where: { $0.number == number }) { model.append(model.remove(at: index)) }
      case 7..<9: program = start()
      default:
        program.client.resetStores(matching: ["text", number])
        do { try await program.client.persistence.removeAll(matching: ["text", number]) } catch { return "\(error)" }
        model.removeAll { $0.number == number }
      }
      guard await program.client.persistence.flush() else { return "step \(step): not written" }
      await program.client.persistence.settled()
      guard let entries = try? await base.entries(withPrefix: "value/") else { return "step \(step): closed" }
      for entry in entries {
        let number = Int(String(entry.key.dropFirst("value/stext/i".count).prefix { $0 != "/" })) ?? -1
        sizes[number] = entry.key.utf8.count + entry.value.count
      }
      // The newest values of the batch, and those that were used last before it, as far as they fit.
      model.removeAll { value in written.contains { $0.0 == value.number } }
      model += written.map { (number: $0.0, text: $0.1) }
      let stored = Set(entries.map(\.key))
      var bytes = 0
      var kept: [(number: Int, text: String)] = []
      for value in model.reversed() where stored.contains("value/stext/i\(value.number)/=text=") {
        bytes += sizes[value.number] ?? 0
        kept.insert(value, at: 0)
      }
      if kept.count != stored.count { return "step \(step): \(stored.sorted()) are stored, of \(model)" }
      if kept.count > maximumRows || bytes > maximumBytes { return "step \(step): \(kept.count), \(bytes) bytes" }
      // Those that are gone were used before those that are left.
      if kept.map(\.number) != model.suffix(kept.count).map(\.number) {
        return "step \(step): \(kept.map(\.number)) are stored, and were used in the order \(model.map(\.number))"
      }
      let gone = model.dropLast(kept.count)
      if let last = gone.last, kept.count < maximumRows, bytes + (sizes[last.number] ?? 0) <= maximumBytes,
        sizes[last.number] != nil, !written.contains(where: { $0.0 == last.number })
      {
        return "step \(step): \(last.number) was removed, and there was room"
      }
      model = kept
    }
    return nil
  }
}
