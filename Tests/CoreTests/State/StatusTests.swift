import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// What happened last decides the status, also when all dates are equal.
@Suite(.bounded, .warningsAreIssues)
struct StatusTests {
  @Test
  func `Under a frozen clock the last one decides`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query().clock(.timeFreeze()))
    #expect(store.status.isIdle)
    store.currentValue = 1
    expect(store.status.resultValue, equals: 1)
    store.setResult(to: .failure(Refused()))
    #expect(store.status.isFailure)
    expect(store.valueLastUpdatedAt, equals: store.errorLastUpdatedAt)
    store.currentValue = 2
    expect(store.status.resultValue, equals: 2)
    script.enqueue(.error(Refused()), .value(3))
    await #expect(throws: Refused()) { try await store.fetch() }
    #expect(store.status.isFailure)
    try await store.fetch()
    expect(store.status.resultValue, equals: 3)
    expect(store.valueLastUpdatedAt, equals: store.errorLastUpdatedAt)
  }

  @Test
  func `Beneath a default value and erased too`() {
    let query = IntScript().query().clock(.timeFreeze()).defaultValue(0)
    let store = OperationStore.detached(operation: query)
    let opaque = OpaqueOperationStore(erasing: store)
    #expect(store.status.isIdle)
    store.setResult(to: .failure(Refused()))
    #expect(store.status.isFailure)
    #expect(opaque.status.isFailure)
    store.currentValue = 4
    expect(store.status.resultValue, equals: 4)
    #expect(opaque.status.isSuccessful)
  }

  @Test
  func `A clock that goes back does not matter`() {
    let clock = ManualClock()
    let store = IntStore.detached(query: IntScript().query().manualTime(clock))
    store.currentValue = 1
    clock.setDate(.distantPast)
    store.setResult(to: .failure(Refused()))
    #expect(store.status.isFailure)
    clock.setDate(.distantFuture)
    store.setResult(to: .failure(Refused()))
    clock.setDate(.distantPast)
    store.currentValue = 2
    #expect(store.status.isSuccessful)
  }

  @Test
  func `Each status answers each question`() {
    let idle = OperationStatus<Int, any Error>.idle
    let loading = OperationStatus<Int, any Error>.loading
    let success = OperationStatus<Int, any Error>.result(.success(1))
    let failure = OperationStatus<Int, any Error>.result(.failure(Refused()))
    let cancelled = OperationStatus<Int, any Error>.result(.failure(CancellationError()))
    let all = [idle, loading, success, failure, cancelled]
    expect(all.map(\.isIdle), equals: [true, false, false, false, false])
    expect(all.map(\.isLoading), equals: [false, true, false, false, false])
    expect(all.map(\.isFinished), equals: [false, false, true, true, true])
    expect(all.map(\.isSuccessful), equals: [false, false, true, false, false])
    expect(all.map(\.isFailure), equals: [false, false, false, true, true])
    expect(all.map(\.isCancelled), equals: [false, false, false, false, true])
    expect(all.map(\.resultValue), equals: [nil, nil, 1, nil, nil])
    expect(all.map { $0.resultError is Refused }, equals: [false, false, false, true, false])
    expect(all.map { $0.result != nil }, equals: all.map(\.isFinished))
  }

  @Test
  func `A success can be transformed`() {
    let success = OperationStatus<Int, Refused>.result(.success(1))
    let failure = OperationStatus<Int, Refused>.result(.failure(Refused()))
    expect(success.mapSuccess { "\($0)" }, equals: .result(.success("1")))
    expect(failure.mapSuccess { "\($0)" }, equals: .result(.failure(Refused())))
    #expect(OperationStatus<Int, Refused>.loading.mapSuccess { "\($0)" } == .loading)
    #expect(OperationStatus<Int, Refused>.idle.flatMapSuccess { _ in OperationStatus<Int, Refused>.loading } == .idle)
    expect(success.flatMapSuccess { _ in OperationStatus<String, Refused>.loading }, equals: .loading)
  }
}
