#if SwiftOperationConfiguration
  internal import Configuration
  public import OperationCore

  /// The values of some settings at one moment: all of them are from the same version of the configuration.
  ///
  /// A value that is missing, or that has another type, is nil. Methods such as `ConcurrencyLimit.update(…)` keep what
  /// they have for nil.
  public struct OperationSettingValues: Sendable {
    enum Value: Sendable, Hashable {
      case integer(Int)
      case number(Double)
      case flag(Bool)
      case text(String)
      /// There is a value, but of another type.
      case malformed
    }

    let values: [String: Value]

    /// The integer with a key; nil if there is none.
    ///
    /// - Parameter key: The key of ``OperationSetting/integer(_:)``, its components with dots between them.
    /// - Returns: The value; nil if there is none.
    public func integer(_ key: String) -> Int? {
      if case .integer(let value) = self.values[key] { value } else { nil }
    }

    /// The number with a key; nil if there is none.
    ///
    /// - Parameter key: The key of ``OperationSetting/number(_:)``, its components with dots between them.
    /// - Returns: The value; nil if there is none.
    public func number(_ key: String) -> Double? {
      if case .number(let value) = self.values[key] { value } else { nil }
    }

    /// The duration with a key, whose number is in seconds; nil if there is none.
    ///
    /// An infinite number or NaN is reported with a warning, and is nil like a value of another type.
    ///
    /// - Parameter key: The key of ``OperationSetting/number(_:)``, its components with dots between them.
    /// - Returns: The value; nil if there is none.
    public func seconds(_ key: String) -> OperationDuration? {
      guard let number = self.number(key) else { return nil }
      guard number.isFinite else {
        OperationWarning(
          code: .invalidArgument,
          severity: .failure,
          message: """
            The setting `\(key)` is \(number), which is no duration. The last good one stays; correct the configuration.
            """
        ).report()
        return nil
      }
      // More than any clock can wait for traps in a conversion.
      return .seconds(min(max(number, -1e12), 1e12))
    }

    /// The truth value with a key; nil if there is none.
    ///
    /// - Parameter key: The key of ``OperationSetting/flag(_:)``, its components with dots between them.
    /// - Returns: The value; nil if there is none.
    public func flag(_ key: String) -> Bool? {
      if case .flag(let value) = self.values[key] { value } else { nil }
    }

    /// The text with a key; nil if there is none.
    ///
    /// - Parameter key: The key of ``OperationSetting/text(_:)``, its components with dots between them.
    /// - Returns: The value; nil if there is none.
    public func text(_ key: String) -> String? {
      if case .text(let value) = self.values[key] { value } else { nil }
    }
  }

  extension OperationSetting {
    /// The value of the setting in a version of a configuration; nil if there is none.
    func value(in snapshot: ConfigSnapshotReader) -> OperationSettingValues.Value? {
      switch self.kind {
      case .integer: if let value = snapshot.int(forKey: self.key) { return .integer(value) }
      case .number:
        if let value = snapshot.double(forKey: self.key) { return .number(value) }
        if let value = snapshot.int(forKey: self.key) { return .number(Double(value)) }
      case .flag: if let value = snapshot.bool(forKey: self.key) { return .flag(value) }
      case .text: if let value = snapshot.string(forKey: self.key) { return .text(value) }
      }
      return self.exists(in: snapshot) ? .malformed : nil
    }

    /// Whether there is a value of any type. A reader does not tell a missing value from one of another type.
    private func exists(in snapshot: ConfigSnapshotReader) -> Bool {
      snapshot.string(forKey: self.key) != nil || snapshot.int(forKey: self.key) != nil
        || snapshot.double(forKey: self.key) != nil || snapshot.bool(forKey: self.key) != nil
    }
  }
#endif
