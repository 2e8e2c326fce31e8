public import OperationCore

extension OperationContext {
  /// The user or the service on whose behalf operations run; nil, the default, when that is unknown.
  ///
  /// Set it where it is known: in the default context of a client, by `.context { $0.auditPrincipal = "anna" }`, or in
  /// the context of a single run. Each ``AuditRecord`` contains it.
  public var auditPrincipal: String? {
    get { self[AuditPrincipalKey.self] }
    set { self[AuditPrincipalKey.self] = newValue }
  }

  /// The identifier of the record that the run will have in its trail; nil outside an audited run.
  ///
  /// An audited operation that is run with this context is a part of the run: its record has this identifier as its
  /// ``AuditRecord/parentID``.
  public var auditID: Int? { self.auditScope?.id }

  var auditScope: AuditScope? {
    get { self[AuditScopeKey.self] }
    set { self[AuditScopeKey.self] = newValue }
  }

  private enum AuditPrincipalKey: Key {
    static let defaultValue: String? = nil
  }

  private enum AuditScopeKey: Key {
    static let defaultValue: AuditScope? = nil
  }
}

/// The audited run that a context belongs to.
struct AuditScope: Sendable {
  let trail: AuditTrail
  let id: Int
}
