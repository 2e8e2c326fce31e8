import OperationAudit
import OperationCore
import Synchronization

/// A bank: accounts, and bookings by the identifier of the run that has made them.
final class Bank: Sendable {
  private struct State {
    var balances: [String: Int]
    var bookings: [Int: Int] = [:]
  }

  private let state: Mutex<State>

  init(balances: [String: Int]) {
    self.state = Mutex(State(balances: balances))
  }

  /// The amounts that were booked, by the identifier of the audited run.
  var bookings: [Int: Int] { self.state.withLock { $0.bookings } }

  func balance(of name: String) throws -> Int {
    guard let balance = self.state.withLock({ $0.balances[name] }) else { throw NoAccount(name: name) }
    return balance
  }

  func book(_ amount: Int, on name: String, as auditID: Int?) {
    self.state.withLock { state in
      state.balances[name, default: 0] += amount
      if let auditID { state.bookings[auditID] = amount }
    }
  }
}

/// An account that the bank does not have.
struct NoAccount: Error, Equatable, CustomStringConvertible {
  let name: String

  var description: String { "there is no account '\(self.name)'" }
}

extension OperationContext {
  /// The bank of the operations.
  var bank: Bank {
    get { self[BankKey.self] }
    set { self[BankKey.self] = newValue }
  }

  private enum BankKey: Key {
    static let defaultValue = Bank(balances: [:])
  }
}
