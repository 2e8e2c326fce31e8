import Foundation
import OperationAudit
import OperationCore

/// Runs a small bank under audit, prints its records as they are made, and checks them: the exit code says whether they
/// are as they should be.
@main
struct ThirdPartyModifier {
  static func main() async {
    do {
      try await self.play()
      print("\nAll records are as they should be.")
    } catch {
      print("\nerror: \(error)")
      exit(EXIT_FAILURE)
    }
  }

  private static func play() async throws {
    let trail = AuditTrail(capacity: 100)
    let printing = trail.subscribe { print("  \($0)") }
    defer { printing.cancel() }
    let client = OperationClient()
    client.defaultContext.auditPrincipal = "anna"
    let bank = Bank(balances: ["savings": 100, "daily": 20])
    client.defaultContext.bank = bank

    print("An audited query is a query, which a client keeps a store for:")
    let savings = client.store(for: balance(of: "savings", trail))
    try expect("the balance", try await savings.fetch(), 100)
    try expect("the value in the store", savings.currentValue, 100)

    print("A failed run has a record, too, and the error arrives as it was thrown:")
    do {
      try await client.store(for: balance(of: "attic", trail)).fetch()
      throw Mistake(description: "an account was found that the bank does not have")
    } catch let error as NoAccount {
      try expect("the error", error, NoAccount(name: "attic"))
    }

    print("A transfer consists of two bookings, which know what they are a part of:")
    let transfer = Transfer(amount: 30, trail: trail).audited(in: trail)
    let runner = OperationRunner(operation: transfer, initialContext: client.defaultContext)
    await runner.run()
    try expect("the balance after it", try await savings.fetch(), 70)

    print("A run that is cancelled is no failure:")
    let audit = Task.immediate { try await OperationRunner(operation: Vigil().audited(in: trail)).run() }
    try expect("the number of active runs", trail.activeCount, 1)
    audit.cancel()
    _ = await audit.result

    try expect(
      "the outcomes",
      trail.records.map(\.outcome.description),
      [
        "succeeded", "failed, there is no account 'attic'", "succeeded", "succeeded", "succeeded", "succeeded",
        "cancelled",
      ]
    )
    try expect("the identifiers", trail.records.map(\.id), [1, 2, 4, 5, 3, 6, 7])
    try expect("the parents", trail.records.map(\.parentID), [nil, nil, 3, 3, nil, nil, nil])
    try expect("the principals", trail.records.map(\.principal), Array(repeating: "anna", count: 6) + [nil])
    try expect("the bookings of the bank", bank.bookings, [4: -30, 5: 30])
  }

  /// The result is a query again: the modifier changes neither the value nor the error.
  private static func balance(of name: String, _ trail: AuditTrail) -> some QueryRequest<Int, any Error> {
    Balance(name: name).audited(in: trail)
  }

  private static func expect<Value: Equatable>(_ what: String, _ found: Value, _ expected: Value) throws {
    guard found == expected else { throw Mistake(description: "\(what): \(found), and not \(expected)") }
  }
}

/// A check has failed.
struct Mistake: Error, CustomStringConvertible {
  let description: String
}
