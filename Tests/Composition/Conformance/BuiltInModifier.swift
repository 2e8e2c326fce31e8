import FoundationEssentials
import Operation
import OperationChaos
import OperationEntities
import OperationFallback
import OperationPersistence
import OperationScheduling
import OperationTesting
import OperationTimeout
import Synchronization
import Testing

/// A modifier of the library, and the rules that it breaks on purpose.
struct BuiltInModifier: Sendable, CustomTestStringConvertible {
  let name: String
  let exceptions: Set<ModifierRule>
  let apply: @Sendable (AnyQuery) -> AnyQuery

  init<Modified: QueryRequest<Int, any Error>>(
    _ name: String,
    except exceptions: Set<ModifierRule> = [],
    _ apply: @escaping @Sendable (AnyQuery) -> Modified
  ) {
    self.name = name
    self.exceptions = exceptions
    self.apply = { AnyQuery(apply($0)) }
  }

  var testDescription: String { self.name }

  /// All modifiers that leave the state of a query as it is.
  static let all = running + exclusive + configuring

  /// Modifiers that take part in a run.
  static let running: [BuiltInModifier] = [
    BuiltInModifier("retry") { $0.retry(limit: 1).delayer(.noDelay) },
    BuiltInModifier("deduplicated by a closure") { $0.deduplicated { _, _ in false } },
    BuiltInModifier("timeout") { $0.timeout(.seconds(3_600)) },
    BuiltInModifier("fallback") { $0.fallback { error, _ in throw error } },
    BuiltInModifier("chaos") { $0.chaos(Chaos(seed: 1)).context { $0.operationChaos = true } },
    BuiltInModifier("circuitBreaker") { $0.circuitBreaker(CircuitBreaker()) },
    BuiltInModifier("circuitBreaker by key") { $0.circuitBreaker(CircuitBreakers()) { _, _ in "host" } },
    BuiltInModifier("limited by shares") { $0.limited(by: PartitionedLimit(1_000) { _ in "tenant" }) },
    BuiltInModifier("limited by permits") { $0.limited(by: ConcurrencyLimit(1_000)) },
    BuiltInModifier("limited by a rate") { $0.limited(by: RateLimit(1_000, per: .seconds(1))) },
    BuiltInModifier("hedged") { $0.hedged(after: .seconds(3_600)) },
    BuiltInModifier("waits") { $0.waits(until: .always(true)) },
    BuiltInModifier("networkMode") { $0.networkMode(.online).networkObserver(MockNetworkObserver()) },
    BuiltInModifier("keepsEqualValues") { $0.keepsEqualValues() },
    BuiltInModifier("entities") { $0.entities { _ in } },
    BuiltInModifier("persisted") { $0.persisted(as: "number", in: InMemoryStorage()) },
    BuiltInModifier("condition") { $0.condition(.always(true)) },
  ]

  /// Modifiers that make runs wait for each other, or share them.
  static let exclusive: [BuiltInModifier] = [
    BuiltInModifier("deduplicated", except: [.independence]) { $0.deduplicated() },
    BuiltInModifier("limited to one", except: [.independence]) { $0.limited(by: ConcurrencyLimit(1)) },
    BuiltInModifier("mutuallyExclusive", except: [.independence]) { $0.mutuallyExclusive(Category.new()) },
    BuiltInModifier("unique", except: [.independence]) { $0.unique(Category.new(), policy: .append) },
  ]

  /// Modifiers that write the context.
  static let configuring: [BuiltInModifier] = [
    BuiltInModifier("backoff") { $0.backoff(.constant(.seconds(1))) },
    BuiltInModifier("delayer") { $0.delayer(.noDelay) },
    BuiltInModifier("retryBudget") { $0.retryBudget(RetryBudget()) },
    BuiltInModifier("honoringRetryAfter") { $0.honoringRetryAfter() },
    BuiltInModifier("clock") { $0.clock(.systemTime) },
    BuiltInModifier("taskConfiguration") { $0.taskConfiguration(OperationTaskConfiguration(name: "named")) },
    BuiltInModifier("context") { $0.context { $0.operationCacheTime = .zero } },
    BuiltInModifier("cacheTime") { $0.cacheTime(.seconds(1)) },
    BuiltInModifier("evictWhen") { $0.evictWhen(pressure: .critical) },
    BuiltInModifier("stale") { $0.stale(after: .seconds(1)) },
    BuiltInModifier("staleWhen") { $0.staleWhen { state, _ in state.currentValue == 1 } },
    BuiltInModifier("staleWhenNoValue") { $0.staleWhenNoValue() },
    BuiltInModifier("enableAutomaticRunning") { $0.enableAutomaticRunning(onlyWhen: .always(true)) },
    BuiltInModifier("disableAutomaticRunning") { $0.disableAutomaticRunning() },
    BuiltInModifier("rerunOnChange") { $0.rerunOnChange(of: .connected(to: MockNetworkObserver())) },
    BuiltInModifier("rerun") { $0.rerun(every: .seconds(1)) },
    BuiltInModifier("handleEvents") { $0.handleEvents(with: OperationEventHandler()) },
    BuiltInModifier("satisfiedConnectionStatus") { $0.satisfiedConnectionStatus(.requiresConnection) },
    BuiltInModifier("completelyOffline") { $0.completelyOffline() },
    BuiltInModifier("disableApplicationActiveRerunning") { $0.disableApplicationActiveRerunning() },
    BuiltInModifier("idempotent") { $0.idempotent() },
  ]
}

/// New categories and identifiers: the process shares them, so each test needs its own.
private enum Category {
  private static let last = Atomic(0)

  static func new() -> Int { self.last.add(1, ordering: .relaxed).newValue }
}
