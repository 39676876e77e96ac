/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "tpm_rig.h"

extern char **environ;

/* The names that open a TPM, and names that are refused, because a TCTI's name can load code. */

/* Opening only the transport accepts and refuses the same names; a refused one is all zeros. */
static void check_way(const char *name, uint32_t allow_simulator, tenon_status expected)
{
    static const tenon_tpm_transport none;
    tenon_tpm_transport way;
    memset(&way, 0xaa, sizeof way);
    CHECK_STATUS(tenon_tpm_transport_open(&way, name, strlen(name), allow_simulator), expected);
    if (expected != TENON_OK)
        CHECK_BYTES(&way, &none, sizeof way);
    else
        way.close(way.context);
}

static tenon_status open_options(const char *name, const tenon_tpm_options *options)
{
    static tenon_tpm *const stale = (tenon_tpm *)&environ;
    tenon_tpm *tpm = stale;
    tenon_status status = tenon_tpm_open(&tpm, name, strlen(name), options);
    CHECK(status == TENON_OK ? tpm != NULL && tpm != stale : tpm == NULL);
    tenon_tpm_free(&tpm);
    check_way(name, options != NULL ? options->allow_simulator : 0, status);
    return status;
}

static tenon_status open_name(const char *name) { return open_options(name, NULL); }

/* The descriptors that are open, and whether an exec would hand them on. */
static size_t count_open(size_t *inherited)
{
    DIR *all = opendir("/proc/self/fd");
    size_t n = 0;
    *inherited = 0;
    for (struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || fd == dirfd(all))
            continue;
        n++;
        *inherited += (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0;
    }
    closedir(all);
    return n;
}

static const tenon_tpm_options simulator = {.size = sizeof simulator, .allow_simulator = 1};

/* A refused name is refused where simulators are allowed, too. */
static tenon_status open_either_way(int unused, const char *name)
{
    tenon_status status = open_name(name);
    CHECK_STATUS(open_options(name, &simulator), status);
    return status;
}

TEST(tpm_open_wrong_names)
{
    static const test_texts rows[] = {
        {TENON_ERROR_TCTI, 0, {"", "device", "devic", "cmd:touch was-here", "pcap:x", "pcap:device:/dev/tpm0"}},
        {TENON_ERROR_TCTI, 0, {"/usr/lib/x.so", "libtss2-tcti-device.so.0", "./x.so", "device:", "device:dev/tpm0"}},
        {TENON_ERROR_TCTI, 0, {"device:./tpm0", "device:../dev/tpm0", " device:/dev/tpm0", "DEVICE:/dev/tpm0"}},
        {TENON_ERROR_TCTI, 0, {"tabrmd", "fuzzing:", "libtpms:", "spi-helper:", "none", ":", "\n"}},
    };
    test_each_text(rows, COUNT(rows), open_either_way);
    CHECK(access("was-here", F_OK) != 0);
}

TEST(tpm_open_simulator_is_asked_for)
{
    static const char *const names[] = {"swtpm:", "swtpm:path=x", "swtpm:host=localhost,port=2321",
                                        "mssim:", "mssim:x"};
    for (size_t i = 0; i < COUNT(names); i++) {
        test_about("\"%s\"", names[i]);
        CHECK_STATUS(open_name(names[i]), TENON_ERROR_SIMULATOR);
    }
    setenv("TSS2_LOG", "all+NONE", 0);
    CHECK_STATUS(open_options("swtpm:path=/nonexistent/socket", &simulator), TENON_ERROR_TPM_MISSING);
}

/* If it was handed over, it is closed with the TPM over it; otherwise the caller that opened it closes it. */
TEST(tpm_open_way_is_closed_once)
{
    static const char name[] = "device:/dev/null";
    tenon_tpm_transport way;
    tenon_tpm *tpm;
    size_t inherited, before = count_open(&inherited);
    CHECK_STATUS(tenon_tpm_transport_open(&way, NULL, 0, 0), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_transport_open(&way, name, sizeof name - 1, 2), TENON_ERROR_OPTIONS);
    CHECK_OK(tenon_tpm_transport_open(&way, name, sizeof name - 1, 0));
    CHECK_NUMBER(count_open(&inherited), before + 1);
    CHECK_NUMBER(way.size, sizeof way);
    CHECK(way.exchange != NULL && way.reopen != NULL && way.close != NULL);
    CHECK_OK(tenon_tpm_open_transport(&tpm, &way, NULL));
    tenon_tpm_info info;
    CHECK_STATUS(tenon_tpm_read_info(tpm, &info), TENON_ERROR_TPM_TRANSPORT);
    CHECK_NUMBER(count_open(&inherited), before + 1);
    tenon_tpm_free(&tpm);
    CHECK_NUMBER(count_open(&inherited), before);
}

/* A NUL within the length: another name than the given one would be opened. */
TEST(tpm_open_nul_in_the_name)
{
    static const char device[] = "device:/dev/null\0/../tpm0", socket[] = "swtpm:path=x\0y";
    tenon_tpm *tpm;
    CHECK_STATUS(tenon_tpm_open(&tpm, device, sizeof device - 1, NULL), TENON_ERROR_TCTI);
    CHECK_STATUS(tenon_tpm_open(&tpm, socket, sizeof socket - 1, &simulator), TENON_ERROR_TCTI);
}

TEST(tpm_open_no_device)
{
    char *folder = support_folder_make();
    char name[512];
    CHECK_STATUS(open_name("device:/nonexistent/tpm0"), TENON_ERROR_TPM_MISSING);
    CHECK_STATUS(open_name("device:/dev"), TENON_ERROR_TPM_MISSING);
    CHECK_STATUS(open_name("device:/etc/passwd"), TENON_ERROR_TPM_MISSING);
    snprintf(name, sizeof name, "device:%s/fifo", folder);
    CHECK_NUMBER(mkfifo(name + 7, 0600), 0);
    CHECK_STATUS(open_name(name), TENON_ERROR_TPM_MISSING);
    char longer[5000] = "device:/";
    memset(longer + 8, 'a', sizeof longer - 9);
    CHECK_STATUS(open_name(longer), TENON_ERROR_TPM_MISSING);
    support_folder_remove(folder);
}

/* Not a TPM, but a node: it opens, and every command fails. */
TEST(tpm_open_null_device)
{
    static const char *const nodes[] = {"device:/dev/null", "device:/dev/full"};
    for (size_t i = 0; i < 2; i++) {
        tenon_tpm *tpm;
        tenon_tpm_info info;
        tenon_tpm_key *key;
        test_about("%s", nodes[i]);
        CHECK_OK(tenon_tpm_open(&tpm, nodes[i], strlen(nodes[i]), NULL));
        CHECK_STATUS(tenon_tpm_read_info(tpm, &info), TENON_ERROR_TPM_TRANSPORT);
        CHECK_STATUS(tenon_tpm_key_create(tpm, &key, NULL, 0), TENON_ERROR_TPM_TRANSPORT);
        CHECK(key == NULL);
        tenon_tpm_free(&tpm);
    }
}

/* As a user without groups, in a child, because this cannot be undone. Only root can become nobody. */
TEST(tpm_open_without_permission)
{
    int status = -1;
    char *folder = support_folder_make();
    char name[512];
    snprintf(name, sizeof name, "device:%s/tpm0", folder);
    if (geteuid() != 0 || mknod(name + 7, S_IFCHR | 0600, 0x103) != 0) {
        CHECK_NUMBER(close(open(name + 7, O_CREAT | O_WRONLY, 0)), 0); /* a file that not even we may open */
        CHECK_STATUS(open_name(name), TENON_ERROR_TPM_PERMISSION);
        support_folder_remove(folder);
        return;
    }
    CHECK_NUMBER(chmod(folder, 0755), 0);
    pid_t child = fork();
    if (child == 0)
        tpm_rig_end_child(seteuid(65534) != 0 || open_name(name) != TENON_ERROR_TPM_PERMISSION);
    CHECK_NUMBER(waitpid(child, &status, 0), child);
    CHECK_NUMBER(status, 0);
    unlink(name + 7);
    support_folder_remove(folder);
}

TEST(tpm_open_closes_on_exec)
{
    tenon_tpm *tpm;
    size_t before, after, inherited_before, inherited;
    before = count_open(&inherited_before);
    CHECK_OK(tenon_tpm_open(&tpm, "device:/dev/null", 16, NULL));
    after = count_open(&inherited);
    CHECK_NUMBER(after, before + 1);
    CHECK_NUMBER(inherited, inherited_before);
    tenon_tpm_info info;
    CHECK_CATEGORY(tenon_tpm_read_info(tpm, &info), TENON_CATEGORY_TRANSIENT); /* opens it again */
    after = count_open(&inherited);
    CHECK_NUMBER(after, before + 1);
    CHECK_NUMBER(inherited, inherited_before);
    tenon_tpm_free(&tpm);
    CHECK_NUMBER(count_open(&inherited), before);
}

/* The sockets of tpm2-tss for a simulator of the reference code: it powers it on, and keeps the command socket. */
static void *simulate(void *context)
{
    const int *listening = context;
    uint8_t command[4];
    int commands = accept4(listening[0], NULL, NULL, SOCK_CLOEXEC);
    int platform = accept4(listening[1], NULL, NULL, SOCK_CLOEXEC);
    while (recv(platform, command, sizeof command, MSG_WAITALL) == (ssize_t)sizeof command)
        (void)!send(platform, (const uint8_t[4]){0}, 4, MSG_NOSIGNAL);
    close(platform);
    close(commands);
    return NULL;
}

static int listen_at(uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Two consecutive ports, like the simulator's. */
static uint16_t listen_at_two(int *listening)
{
    for (uint16_t port = 20000; port < 60000; port += 2) {
        listening[0] = listen_at(port);
        listening[1] = listening[0] < 0 ? -1 : listen_at((uint16_t)(port + 1));
        if (listening[1] >= 0)
            return port;
        if (listening[0] >= 0)
            close(listening[0]);
    }
    return 0;
}

TEST(tpm_open_closes_sockets_on_exec)
{
    int listening[2];
    size_t inherited_before, inherited;
    char name[64];
    pthread_t thread;
    tenon_tpm *tpm;
    uint16_t port = listen_at_two(listening);
    setenv("TSS2_LOG", "all+NONE", 0);
    snprintf(name, sizeof name, "mssim:host=127.0.0.1,port=%u", (unsigned)port);
    CHECK_NUMBER(pthread_create(&thread, NULL, simulate, listening), 0);
    size_t before = count_open(&inherited_before);
    CHECK_OK(tenon_tpm_open(&tpm, name, strlen(name), &simulator));
    CHECK(count_open(&inherited) > before);
    /* The socket of commands is closed. tpm2-tss does not name the other one, which turns a simulator on and off. */
    CHECK_NUMBER(inherited, inherited_before + 1);
    tenon_tpm_free(&tpm);
    CHECK_NUMBER(pthread_join(thread, NULL), 0);
    close(listening[0]);
    close(listening[1]);
}

/* A socket's file is there before anybody listens at it. */
static bool listens(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    bool does = connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
    close(fd);
    return does;
}

/* A software TPM that listens on a unix socket, and on the one beside it that controls it. */
static pid_t start_listening(const char *folder, char *name, size_t size)
{
    char state[600], server[600], control[600];
    struct timespec pause = {0, 10000000};
    pid_t pid = 0;
    snprintf(state, sizeof state, "dir=%s", folder);
    snprintf(server, sizeof server, "type=unixio,path=%s/s", folder);
    snprintf(control, sizeof control, "type=unixio,path=%s/s.ctrl", folder);
    snprintf(name, size, "swtpm:path=%s/s", folder);
    char *arguments[] = {(char[]){"swtpm"},
                         (char[]){"socket"},
                         (char[]){"--tpm2"},
                         (char[]){"--tpmstate"},
                         state,
                         (char[]){"--server"},
                         server,
                         (char[]){"--ctrl"},
                         control,
                         (char[]){"--flags"},
                         (char[]){"not-need-init,startup-clear"},
                         NULL};
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    if (!CHECK(posix_spawnp(&pid, "swtpm", &quiet, NULL, arguments, environ) == 0))
        exit(2);
    posix_spawn_file_actions_destroy(&quiet);
    for (int i = 0; i < 1000 && !(listens(strchr(server, '/')) && listens(strchr(control, '/'))); i++)
        nanosleep(&pause, NULL);
    return pid;
}

TEST(tpm_open_by_name_end_to_end)
{
    char name[640];
    char *folder = support_folder_make();
    tenon_tpm *tpm;
    tenon_tpm_key *key;
    size_t inherited_before, inherited;
    setenv("TSS2_LOG", "all+NONE", 0);
    pid_t child = start_listening(folder, name, sizeof name);
    CHECK_STATUS(open_name(name), TENON_ERROR_SIMULATOR);
    size_t before = count_open(&inherited_before);
    CHECK_OK(tenon_tpm_open(&tpm, name, strlen(name), &simulator));
    CHECK_OK(tenon_tpm_key_create(tpm, &key, NULL, 0));
    CHECK_OK(tpm_rig_sign(key));
    (void)count_open(&inherited);
    CHECK_NUMBER(inherited, inherited_before);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    tenon_status status = tpm_rig_sign(key);
    CHECK(status == TENON_ERROR_TPM_MISSING || status == TENON_ERROR_TPM_TRANSPORT);
    CHECK_NUMBER(count_open(&inherited), before); /* a failed one was closed before the next was opened */
    tenon_tpm_key_free(&key);
    tenon_tpm_free(&tpm);
    unlink(strchr(name, '/'));
    support_folder_remove(folder);
}
