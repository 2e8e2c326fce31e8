import OperationCore
import OperationFallback
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct FallbackTests {
  @Test func `A success does not fall back`() async throws {
    let script = IntScript(default: .value(1))
    let operation = script.operation().fallback { error, _ in
      Issue.record("It fell back from \(error).")
      return 2
    }
    try await expect(OperationRunner(operation: operation).run(), equals: 1)
  }

  @Test func `A failure falls back to a value`() async throws {
    let script = IntScript(default: .error(Refused(code: 1)))
    try await expect(OperationRunner(operation: script.operation().fallback(7)).run(), equals: 7)
  }

  @Test func `A closure receives the error and the context of the run`() async throws {
    let script = IntScript(default: .error(Refused(code: 3)))
    let operation = script.operation()
      .fallback { error, context in (error as? Refused)?.code == 3 ? context.mark : 0 }
      .context { $0.mark = 8 }
    try await expect(OperationRunner(operation: operation).run(), equals: 8)
  }

  @Test func `A closure may wait, and may decline with an error`() async throws {
    let script = IntScript(default: .error(Refused(code: 1)))
    let gate = Gate()
    let waiting = script.operation().fallback { _, _ in
      try await gate.wait()
      return 2
    }
    let task = Task.immediate { try await OperationRunner(operation: waiting).run(isolation: nil) }
    try await gate.arrivals(count: 1)
    gate.open()
    try await expect(task.value, equals: 2)
    let declining = script.operation().fallback { _, _ in throw Refused(code: 2) }
    await #expect(throws: Refused(code: 2)) { try await OperationRunner(operation: declining).run() }
  }

  @Test func `A typed failure stays what it is`() async {
    let script = OperationScript<Int, Refused>(default: .error(Refused(code: 1)))
    let declining = script.operation().fallback { error, _ throws(Refused) in throw Refused(code: error.code + 1) }
    do throws(Refused) {
      _ = try await OperationRunner(operation: declining).run()
      Issue.record("The operation has not failed.")
    } catch {
      expect(error.code, equals: 2)
    }
    expect((try? await OperationRunner(operation: script.operation().fallback(3)).run()), equals: 3)
  }

  @Test func `Another operation runs with its own setup and modifiers, and yields`() async throws {
    let script = IntScript(default: .error(Refused()))
    let other = IntScript()
    other.enqueue(.yield(.success(5), then: .value(6)))
    let operation = script.operation().fallback(
      to: Probing(base: other.operation()).context { $0.mark = 9 }
    )
    let yields = Log<(Int, Bool)>()
    let value = try await OperationRunner(operation: operation).run(
      with: OperationContinuation { result, context in
        if let value = try? result.get() { yields.append((value, context?.isFallback ?? false)) }
      }
    )
    expect(value, equals: 15)
    #expect(yields.all.map(\.0) == [5] && yields.all.map(\.1) == [true])
    expect(other.setupCount, equals: 1)
  }

  @Test func `The error of the other operation surfaces`() async {
    let script = IntScript(default: .error(Refused(code: 1)))
    let other = IntScript(default: .error(Refused(code: 2)))
    let operation = script.operation().fallback(to: other.operation())
    await #expect(throws: Refused(code: 2)) { try await OperationRunner(operation: operation).run() }
  }

  @Test func `Of nested fallbacks the inner one is first`() async throws {
    let script = IntScript(default: .error(Refused(code: 1)))
    let operation = script.operation().fallback { _, _ in throw Refused(code: 2) }.fallback { error, _ in
      (error as? Refused)?.code ?? 0
    }
    try await expect(OperationRunner(operation: operation).run(), equals: 2)
  }

  @Test func `Observers are notified of a fallback`() async throws {
    let notices = Log<OperationNotice>()
    let script = IntScript(default: .error(Refused()))
    let query = script.query(path: ["posts"]).fallback(1).onNotice { notice, _ in notices.append(notice) }
    try await OperationRunner(operation: query).run()
    let notice = try #require(notices.all.first)
    #expect(notices.all.count == 1 && notice.name == .fellBack && notice.path == ["posts"])
    expect(notice.attributes, equals: ["fallback.error": .string(String(reflecting: Refused.self))])
  }

  @Test func `A run stays on the actor of its caller`() async throws {
    let operation = MainActorWork { _ in throw Refused() }.fallback(to: MainActorWork { _ in 5 })
    let value = try await Task { @MainActor in try await OperationRunner(operation: operation).run() }.value
    expect(value, equals: 5)
  }

  @Test func `The rules of modifiers are kept`() async throws {
    // It replaces errors on purpose.
    try await checkModifier(except: [.error]) { $0.fallback(0) }
    try await checkModifier { $0.fallback { error, _ in throw error } }
  }
}
