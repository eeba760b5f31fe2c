import type { Boundary } from '../../domain/layer.ts';

/** What a program or its runtime writes before it gives up, by whose work ends it. */
export interface CrashReason {
  boundary: Boundary;
  says: string;
  pattern: RegExp;
  /** A frame's words for any failed start: they count only where nothing beside them speaks of the surroundings. */
  onlyAlone?: boolean;
}

/** The most telling first. */
export const crashReasons: CrashReason[] = [
  {
    boundary: 'config',
    says: 'it does not fit the kernel of its node',
    // Probes, eBPF loaders, kernel modules; not the kernels of notebooks and of GPU libraries.
    pattern:
      /\b(?:no (?:prebuilt|suitable|matching|compatible) (?:\w+ )?(?:probe|driver|module)|unsupported|incompatible|not supported)\b.{0,60}\bkernel:? (?:version|release|headers|v?\d+\.\d+)|\bkernel:? (?:version|release|headers|v?\d+\.\d+).{0,60}\b(?:unsupported|not supported|incompatible|too (?:old|new))\b|BTF relocation failed|Unknown symbol in module|(?:modprobe|insmod)\b.{0,80}(?:not found|Invalid module format|Exec format error)/i,
  },
  {
    boundary: 'config',
    says: 'its configuration is incomplete or wrong',
    pattern:
      /(?:missing|required|undefined|unset|empty|not set|must be set|not defined|not provided|no value)\b.{0,60}\b(?:env|environment|variable|config\w*|setting|property|option|flag|argument|parameter|key)\b|\b(?:env|environment)\b.{0,50}\b(?:missing|required|not set|undefined|unset|empty|must)|could not resolve placeholder|KeyError: '[A-Z][A-Z0-9_]+'|(?:invalid|unknown|bad|unsupported|malformed)\b.{0,30}\b(?:config\w*|setting|value|option|flag|field|argument|url|dsn|yaml|json)|(?:failed|unable|error|cannot|could not)\b.{0,30}\b(?:load|pars\w+|read|open|decode|unmarshal)\w*\b.{0,40}\b(?:config\w*|settings|yaml|yml|json|toml|properties|file)|yaml: (?:line|unmarshal)|cannot unmarshal|ConfigError|ConfigurationException|BeanCreationException|ValidationError/i,
  },
  {
    boundary: 'config',
    says: 'it was started with options that it does not know',
    // Go's flag and cobra, Python's argparse and click, Java's launcher, nginx.
    pattern:
      /flag provided but not defined|unknown (?:shorthand )?flag|unknown command "|unrecognized (?:arguments?|option|command)|no such option|invalid choice: |the following arguments are required|Unrecognized VM option|Unrecognized option:|Could not create the Java Virtual Machine|Invalid (?:maximum|initial) heap size|\[emerg\] (?:unknown|invalid|unexpected|duplicate|directive)/i,
  },
  {
    boundary: 'config',
    says: 'a file or program it needs is not there',
    pattern:
      /no such file or directory|ENOENT|FileNotFoundError|FileNotFoundException|executable file not found|command not found|Cannot find module|ModuleNotFoundError|ImportError|ClassNotFoundException|NoClassDefFoundError|no main manifest attribute|cannot open shared object file|permission denied|EACCES/i,
  },
  {
    boundary: 'image',
    says: 'what its image holds does not fit together',
    // A part that was not installed, or one of another version: shell, Java, Node, Python, Ruby, PHP, .NET, libc.
    pattern:
      /\b(?:sh|bash|ash)(?:: (?:line )?\d+)?: \S{1,120}: not found|Could not find or load main class|Unable to access jarfile|UnsupportedClassVersionError|missing script: |MODULE_NOT_FOUND|No module named|GemNotFound|Could not find gem|cannot load such file|error while loading shared libraries|GLIBC(?:XX)?_[\d.]+['`’]? not found|compatible \.NET SDK|You must install (?:or update )?\.NET|Failed opening required/i,
  },
  {
    boundary: 'application',
    says: 'it asks the API server for a version of a built-in kind that is no longer served',
    // Custom kinds are left out: whoever installs them answers for them.
    pattern:
      /no matches for kind \\?"\w+\\?" in version \\?"(?:(?:flowcontrol\.apiserver|networking|rbac\.authorization|storage|admissionregistration|apiextensions|certificates|coordination|discovery|events|node|scheduling|authentication|authorization|resource)\.k8s\.io|extensions|apps|batch|policy|autoscaling)\/v\d\w*/,
  },
  {
    boundary: 'application',
    says: 'the database schema does not fit it',
    pattern:
      /relation "[^"]+" does not exist|no such table|Unknown column|column "[^"]+" (?:of relation|does not exist)|migration .*(?:failed|dirty|pending)|Dirty database version|Flyway\w*Exception|liquibase.*(?:failed|exception)/i,
  },
  {
    boundary: 'application',
    says: 'it fails in its own code',
    pattern:
      /panic: |fatal error: |goroutine 1 \[|Traceback|Exception in thread|Unhandled(?:PromiseRejection|Exception| exception)|Uncaught|NullPointerException|SIGSEGV|segmentation fault|thread '.*' panicked|stack overflow|StackOverflowError|(?:Type|Reference|Range|Syntax|Attribute|Name|Value|Index|Key|Assertion|Runtime)Error\b|IllegalState|IllegalArgument|java\.lang\.\w*(?:Error|Exception)|OutOfMemoryError|heap out of memory|core dumped|address already in use/i,
  },
  {
    boundary: 'application',
    says: 'it fails in its own code',
    // C and C++, PHP, .NET, shells, and Node's own frames.
    pattern:
      /terminate called (?:after|without)|std::bad_alloc|PHP (?:Fatal|Parse) error|Allowed memory size of|Unhandled exception\.|syntax error[:,]|node:internal\/|double free|free\(\): invalid|stack smashing detected|corrupted (?:size|double-linked)/i,
  },
  {
    boundary: 'config',
    says: 'its framework does not start with what it was given',
    onlyAlone: true,
    pattern:
      /APPLICATION FAILED TO START|Error creating bean|Failed to bind properties|ImproperlyConfigured|validation errors? for \w{1,60}/i,
  },
];
