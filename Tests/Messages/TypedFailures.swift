import Operation
import OperationCircuitBreaker
import OperationScheduling
import OperationTimeout

// A failure type of one's own, where a modifier needs to know which failure it throws.

struct Refused: Error {}

struct NameQuery: QueryRequest, Hashable {
  typealias State = QueryState<String, Refused>

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, Refused>
  ) async throws(Refused) -> String { "name" }
}

func modifiers(_ query: NameQuery, _ breaker: CircuitBreaker, _ condition: some OperationCondition) {
  // expected-error@+1 {{say which failure a timeout is, with .timeout(limit, else: { error in … })}}
  _ = query.timeout(.seconds(1))
  // expected-error@+1 {{with .deadline(after: limit, else: { error in … })}}
  _ = query.deadline(after: .seconds(1))
  // expected-error@+1 {{with .deadline(instant, else: { error in … })}}
  _ = query.deadline(.now + .seconds(1))
  // expected-error@+1 {{with .circuitBreaker(breaker, else: { error in … })}}
  _ = query.circuitBreaker(breaker)
  // expected-error@+1 {{with .condition(condition, else: { error in … })}}
  _ = query.condition(condition)
  // expected-error@+1 {{with .waits(until: …, timeout: …, else: { error in … })}}
  _ = query.waits(until: .always(true), timeout: .seconds(1))
}
