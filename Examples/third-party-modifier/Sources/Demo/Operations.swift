import OperationAudit
import OperationCore

/// The balance of an account.
struct Balance: QueryRequest, Hashable {
  let name: String

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try context.bank.balance(of: self.name)
  }
}

/// Changes the balance of an account, and passes the identifier of the audited run to the bank.
struct Booking: OperationRequest, Sendable {
  let amount: Int
  let name: String

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, Never>
  ) async {
    context.bank.book(self.amount, on: self.name, as: context.auditID)
  }
}

/// Moves an amount from the savings to the daily account, in two audited bookings.
struct Transfer: OperationRequest, Sendable {
  let amount: Int
  let trail: AuditTrail

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, Never>
  ) async {
    for booking in [Booking(amount: -self.amount, name: "savings"), Booking(amount: self.amount, name: "daily")] {
      // With the context of the transfer, so that the booking is a part of it.
      await OperationRunner(operation: booking.audited(in: self.trail)).run(in: context)
    }
  }
}

/// Runs until it is cancelled.
struct Vigil: OperationRequest, Sendable {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    try await context.operationDeadlines.sleep(for: .seconds(3600))
  }
}
