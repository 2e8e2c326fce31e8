import Operation
import OperationChaos
import OperationPersistence
import SharingOperation

// Names that go with 1.0: each of them still works, and its warning says what replaces it.

struct SaveDraft: MutationRequest, Hashable {
  func mutate(
    isolation: isolated (any Actor)?,
    with text: String,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int { text.count }
}

func resilience(_ query: QueryOperation<Int, any Error>, _ breaker: CircuitBreaker, _ breakers: CircuitBreakers) {
  // expected-warning@+2 {{renamed to 'retryOnValue(limit:where:)'}}
  // expected-note@+1 {{use 'retryOnValue(limit:where:)' instead}}
  _ = query.retry(limit: 3, whileValue: { $0 < 0 })
  // expected-warning@+2 {{renamed to 'retryOnValue(limit:where:)'}}
  // expected-note@+1 {{use 'retryOnValue(limit:where:)' instead}}
  _ = query.retry(limit: 3, whileValue: { value, context in value < context.operationMaxRetries })
  // expected-warning@+1 {{Write failingOn: .where { … }.}}
  _ = query.circuitBreaker(breaker) { $0 < 0 }
  // expected-warning@+1 {{Write failingOn: .where { … }.}}
  _ = query.circuitBreaker(breakers, failingOn: { $0 < 0 }, by: { _, _ in "host" })
  // A trailing closure is a condition on errors.
  _ = query.retry(limit: 3) { $0 is CancellationError }
  _ = query.retry(limit: 3) { error, context in error is CancellationError && context.isLastRunAttempt }
}

func chaos() {
  // expected-warning@+2 {{replaced by 'init(failureRatio:latencyRatio:latency:seed:)'}}
  // expected-note@+1 {{use 'init(failureRatio:latencyRatio:latency:seed:)' instead}}
  let chaos = Chaos(failures: 0.1, latency: 0.2, of: .zero...(.seconds(1)))
  // expected-warning@+2 {{renamed to 'failureRatio'}}
  // expected-note@+1 {{use 'failureRatio' instead}}
  _ = chaos.failures
  // expected-warning@+2 {{renamed to 'latencyRatio'}}
  // expected-note@+1 {{use 'latencyRatio' instead}}
  _ = chaos.latency
  _ = (Chaos(), Chaos(seed: 1), Chaos(failureRatio: 0.1), Chaos(latency: .zero...(.seconds(1))))
}

func breakers() {
  // expected-warning@+1 {{Write maximumOpenRatio: as for all shares between 0 and 1.}}
  let breakers = CircuitBreakers(maximumOpen: 0.5)
  // expected-warning@+1 {{Write maximumOpenRatio: as for all shares between 0 and 1.}}
  breakers.update(maximumOpen: 0.25)
  // expected-warning@+2 {{renamed to 'maximumOpenRatio'}}
  // expected-note@+1 {{use 'maximumOpenRatio' instead}}
  _ = breakers.snapshot().maximumOpen
  breakers.update(maximumOpenRatio: 0.5)
  _ = CircuitBreakers()
}

func freshness(_ query: QueryOperation<Int, any Error>) {
  // expected-warning@+1 {{refreshesEarly(0.2) is refreshesEarly(after: 0.8)}}
  _ = query.refreshesEarly(0.2)
  // expected-warning@+2 {{renamed to 'servesStale(softTimeout:maximumAge:retriesAfter:)'}}
  // expected-note@+1 {{use 'servesStale(softTimeout:maximumAge:retriesAfter:)' instead}}
  _ = query.servesStale(after: .seconds(1), for: .seconds(60))
  // expected-warning@+2 {{renamed to 'servesStale(onFailureFor:retriesAfter:)'}}
  // expected-note@+1 {{use 'servesStale(onFailureFor:retriesAfter:)' instead}}
  _ = query.servesStale(for: .seconds(60))
}

func storing(_ query: QueryOperation<String, any Error>) {
  // expected-warning@+1 {{Write excluding: .where { … } for the values that are not stored.}}
  _ = query.persisted(as: "text") { $0.isEmpty }
  // expected-warning@+1 {{Write excluding: .where { … } for the values that do not leave the process.}}
  _ = query.hydratable(as: "text") { $0.isEmpty }
  // expected-warning@+1 {{Write excluding: .where { … } for the arguments that are not stored.}}
  _ = SaveDraft().journaled(as: "save") { $0.isEmpty }
  // expected-warning@+1 {{Write failsForGood: .where { … }.}}
  _ = SaveDraft().journaled(as: "save", failsForGood: { $0 is CancellationError })
  _ = SaveDraft().journaled(as: "save", failsForGood: .where { $0 is CancellationError })
  _ = query.persisted(as: "text", excluding: .where { $0.isEmpty })
}

func journals(_ storage: any PersistentStorage, _ journal: MutationJournal) {
  // expected-warning@+2 {{replaced by 'init(storage:resumes:attemptsBeforeDeadLetter:maximumConcurrentCalls:maximumConcurrentScopes:leaseDuration:makeKey:)'}}
  // expected-note@+1 {{use 'init(storage:resumes:attemptsBeforeDeadLetter:maximumConcurrentCalls:maximumConcurrentScopes:leaseDuration:makeKey:)' instead}}
  _ = MutationJournal(storage: storage, attemptsBeforeSetAside: 3)
  // expected-warning@+2 {{renamed to 'attemptsBeforeDeadLetter'}}
  // expected-note@+1 {{use 'attemptsBeforeDeadLetter' instead}}
  _ = journal.attemptsBeforeSetAside
  // expected-warning@+2 {{renamed to 'deadLetter'}}
  // expected-note@+1 {{use 'deadLetter' instead}}
  _ = JournalEntry.Status.setAside
  // expected-warning@+2 {{renamed to 'journalDeadLetter'}}
  // expected-note@+1 {{use 'journalDeadLetter' instead}}
  _ = OperationWarning.Code.journalEntrySetAside
  // expected-warning@+2 {{renamed to 'journalDeadLetter'}}
  // expected-note@+1 {{use 'journalDeadLetter' instead}}
  _ = OperationNotice.Name.journalSetAside
}

// expected-warning@+2 {{renamed to 'OperationCycleError'}}
// expected-note@+1 {{use 'OperationCycleError' instead}}
func names(_ error: OperationCircleError, _ query: QueryOperation<Int, any Error>, _ breaker: CircuitBreaker) {
  // expected-warning@+2 {{renamed to 'taskCycle'}}
  // expected-note@+1 {{use 'taskCycle' instead}}
  _ = OperationWarning.Code.taskCircle
  // expected-warning@+2 {{renamed to 'allowsAutomaticRuns'}}
  // expected-note@+1 {{use 'allowsAutomaticRuns' instead}}
  _ = query.canRunUnasked
  // expected-warning@+1 {{call snapshot(), as for all limits and groups}}
  _ = breaker.snapshot
}

@MainActor func sharing(_ store: OperationStore<QueryState<Int, any Error>>) {
  // expected-warning@+2 {{renamed to 'makeObservable()'}}
  // expected-note@+1 {{use 'makeObservable()' instead}}
  _ = store.observable
  _ = store.makeObservable()
}
