#if SwiftOperationConfiguration
  public import Configuration

  /// A value of a configuration that sets something of an operation: its key and its type.
  ///
  /// Durations are numbers of seconds: the type is ``number(_:)``, and ``OperationSettingValues/seconds(_:)`` reads them.
  public struct OperationSetting: Sendable {
    enum Kind: String, Sendable {
      case integer = "an integer"
      case number = "a number"
      case flag = "true or false"
      case text = "a text"
    }

    let key: ConfigKey
    let kind: Kind

    /// An integer, such as a number of permits.
    ///
    /// - Parameter key: The key, relative to the reader.
    /// - Returns: The setting.
    public static func integer(_ key: ConfigKey) -> OperationSetting { OperationSetting(key: key, kind: .integer) }

    /// A number, such as a ratio or a duration in seconds. An integer is one, too.
    ///
    /// - Parameter key: The key, relative to the reader.
    /// - Returns: The setting.
    public static func number(_ key: ConfigKey) -> OperationSetting { OperationSetting(key: key, kind: .number) }

    /// A truth value.
    ///
    /// - Parameter key: The key, relative to the reader.
    /// - Returns: The setting.
    public static func flag(_ key: ConfigKey) -> OperationSetting { OperationSetting(key: key, kind: .flag) }

    /// A text.
    ///
    /// - Parameter key: The key, relative to the reader.
    /// - Returns: The setting.
    public static func text(_ key: ConfigKey) -> OperationSetting { OperationSetting(key: key, kind: .text) }

    /// The name of the key in texts and in ``OperationSettingValues``: its components with dots between them.
    var name: String { self.key.components.joined(separator: ".") }
  }
#endif
